/**
 * What a waiting call and a question have in common: who asks, how long ago, whether the answer is
 * on its way, and how it ended.
 */

import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { IOutcome, Waiting } from '../agents/protocol';
import { GONE } from '../agents/state';
import { holdsFocus, useHandedOn } from './focus';
import { age, ending, headline, isSilence, problem, whence } from './words';

/** Starts an answer; the frame shows how it goes. */
export type Send = (answer: () => Promise<void>) => void;

export interface IFrameProps {
  waiting: Waiting;
  outcome: IOutcome | null;
  /** Was it answered here, if that is known? */
  isMine: boolean | undefined;
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
  const { waiting, outcome, isMine, name, isConnected, now, trans, show, children } = props;
  const from = outcome ? whence(outcome, isMine, trans) : '';
  const [isSending, setSending] = React.useState(false);
  const [failed, setFailed] = React.useState<unknown>(null);
  const id = React.useId();
  const card = React.useRef<HTMLElement>(null);
  useHandedOn(card);
  const ended = React.useRef<HTMLParagraphElement>(null);
  const send: Send = answer => {
    const sent = answer(); // before the page draws anything
    if (holdsFocus(card.current)) {
      ended.current?.focus(); // the buttons are about to be disabled
    }
    setSending(true);
    setFailed(null);
    sent.catch(setFailed).finally(() => setSending(false));
  };
  const isHigh = waiting.kind === 'approval' && waiting.risk === 'high';
  const isAnswered = outcome !== null && outcome.decision !== GONE;
  const classes = [
    'hermes-Card',
    isHigh && 'hermes-mod-high',
    isAnswered && 'hermes-mod-answered'
  ];
  return (
    <section
      ref={card}
      tabIndex={-1}
      className={classes.filter(Boolean).join(' ')}
      role="alertdialog"
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-body`}
      data-request={waiting.id}
    >
      <header className="hermes-Card-header">
        <h3 id={`${id}-title`}>{headline(waiting, trans)}</h3>
        {isHigh && <span className="hermes-Card-risk">{trans.__('high risk')}</span>}
      </header>
      <p className="hermes-Card-origin">
        <button
          type="button"
          className="hermes-Link"
          title={trans.__('Show the cell')}
          onClick={show}
        >
          {name}
        </button>
        <span className="hermes-Card-age">{age(waiting.askedAt, now, trans)}</span>
      </p>
      <fieldset id={`${id}-body`} disabled={isSending || outcome !== null || !isConnected}>
        {children(send)}
      </fieldset>
      <p ref={ended} tabIndex={-1} role="status" className="hermes-Card-ending">
        {outcome ? ending(outcome, trans) : isSending ? trans.__('Sending…') : ''}
        {from && <span className="hermes-Card-from"> · {from}</span>}
      </p>
      {!isConnected && !outcome && (
        <p role="status">
          {trans.__(
            'The connection to the kernel is broken. It can be answered when it is back.'
          )}
        </p>
      )}
      {failed !== null && !(outcome && isSilence(failed)) && (
        <p role="alert" className="hermes-Card-failed">
          {problem(failed, trans)}
        </p>
      )}
    </section>
  );
}
