/**
 * What a waiting call and a question have in common: who asks, how long ago, whether the answer is
 * on its way, and how it ended.
 */

import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { IOutcome, Waiting } from '../agents/protocol';
import { age, ending, headline, problem } from './words';

/** Starts an answer; the frame shows how it goes. */
export type Send = (answer: () => Promise<void>) => void;

export interface IFrameProps {
  waiting: Waiting;
  outcome: IOutcome | null;
  /** Of the notebook. */
  name: string;
  isConnected: boolean;
  /** In ms since 1970. */
  now: number;
  trans: TranslationBundle;
  /** Shows the cell that it is about. */
  show: () => void;
  children: (send: Send) => React.ReactNode;
}

export function Frame(props: IFrameProps): JSX.Element {
  const { waiting, outcome, name, isConnected, now, trans, show, children } = props;
  const [isSending, setSending] = React.useState(false);
  const [failed, setFailed] = React.useState('');
  const id = React.useId();
  const send: Send = answer => {
    setSending(true);
    setFailed('');
    answer()
      .catch(error => setFailed(problem(error, trans)))
      .finally(() => setSending(false));
  };
  const isHigh = waiting.kind === 'approval' && waiting.risk === 'high';
  return (
    <section
      className={`hermes-Card${isHigh ? ' hermes-mod-high' : ''}${outcome ? ' hermes-mod-answered' : ''}`}
      role="alertdialog"
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-body`}
      data-request={waiting.id}
    >
      <header className="hermes-Card-header">
        <h3 id={`${id}-title`}>{headline(waiting, trans)}</h3>
        {isHigh && <span className="hermes-Card-risk">{trans.__('high risk')}</span>}
        <span className="hermes-Card-age">{age(waiting.askedAt, now, trans)}</span>
      </header>
      <button
        type="button"
        className="hermes-Link"
        title={trans.__('Show the cell')}
        onClick={show}
      >
        {name}
      </button>
      <fieldset id={`${id}-body`} disabled={isSending || outcome !== null || !isConnected}>
        {children(send)}
      </fieldset>
      {outcome && (
        <p role="status" className="hermes-Card-ending">
          {ending(outcome, trans)}
        </p>
      )}
      {!isConnected && !outcome && (
        <p role="status">
          {trans.__(
            'The connection to the kernel is broken. It can be answered when it is back.'
          )}
        </p>
      )}
      {failed && (
        <p role="alert" className="hermes-Card-failed">
          {failed}
        </p>
      )}
    </section>
  );
}
