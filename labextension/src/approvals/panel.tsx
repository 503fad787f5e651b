/**
 * The side panel: what waits in all kernels, and the turns that run.
 */

import { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import * as React from 'react';

import { IAgents } from '../agents/agents';
import { askIcon } from '../icons';
import { DOMAIN } from '../names';
import { Card } from './card';
import { OfferNotices } from './offer';
import { Question } from './question';
import { Turns } from './turns';
import { problem } from './words';

const ID = 'hermes-approvals';

/** Shows the cell with this id in the notebook of a kernel. */
export type ShowCell = (kernel: string, cell: string) => void;

export class ApprovalsPanel extends ReactWidget {
  constructor(
    private readonly agents: IAgents,
    translator: ITranslator,
    private readonly showCell: ShowCell
  ) {
    super();
    this.trans = translator.load(DOMAIN);
    this.id = ID;
    this.addClass('hermes-Panel');
    this.title.icon = askIcon;
    this.title.caption = this.trans.__('What agents ask you');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', this.trans.__('Hermes: what agents ask you'));
    agents.changed.connect(this.mark, this);
  }

  protected render(): JSX.Element {
    return (
      <UseSignal signal={this.agents.changed}>
        {() => <Content agents={this.agents} trans={this.trans} show={this.showCell} />}
      </UseSignal>
    );
  }

  /** The icon shows that something waits. */
  private mark(): void {
    this.title.className = this.agents.count > 0 ? 'hermes-mod-waiting' : '';
  }

  private readonly trans: TranslationBundle;
}

interface IContentProps {
  agents: IAgents;
  trans: TranslationBundle;
  show: ShowCell;
}

function Content({ agents, trans, show }: IContentProps): JSX.Element {
  const { kernels, count } = agents;
  const now = useNow(count > 0);
  const [failed, setFailed] = React.useState('');
  return (
    <>
      <h2>{trans.__('Hermes')}</h2>
      <p className="hermes-Panel-count" role="status" aria-live="polite">
        {count === 0
          ? trans.__('Nothing waits for you.')
          : trans._n('%1 request waits for you.', '%1 requests wait for you.', count)}
      </p>
      <OfferNotices trans={trans} />
      {kernels.flatMap(({ kernel, name, isConnected, items }) =>
        items.map(({ waiting, outcome }) => {
          const frame = {
            outcome,
            name,
            isConnected,
            now,
            trans,
            show: () => show(kernel, waiting.cell)
          };
          return waiting.kind === 'approval' ? (
            <Card
              key={waiting.id}
              approval={waiting}
              answer={(choice, more) => agents.answer(kernel, waiting, choice, more)}
              {...frame}
            />
          ) : (
            <Question
              key={waiting.id}
              question={waiting}
              reply={text => agents.reply(kernel, waiting, text)}
              {...frame}
            />
          );
        })
      )}
      <Turns
        kernels={kernels}
        trans={trans}
        show={show}
        stop={(kernel, turn) => {
          setFailed('');
          agents.stop(kernel, turn).catch(error => setFailed(problem(error, trans)));
        }}
      />
      {failed && (
        <p role="alert" className="hermes-Card-failed">
          {failed}
        </p>
      )}
    </>
  );
}

/** The time, told anew each second while something waits. */
function useNow(isTicking: boolean): number {
  const [now, setNow] = React.useState(Date.now());
  React.useEffect(() => {
    if (!isTicking) {
      return undefined;
    }
    setNow(Date.now());
    const timer = window.setInterval(() => setNow(Date.now()), 1_000);
    return () => window.clearInterval(timer);
  }, [isTicking]);
  return now;
}
