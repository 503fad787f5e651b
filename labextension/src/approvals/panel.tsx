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
import { enter, move } from './focus';
import { OfferNotices } from './offer';
import { Question } from './question';
import { Reach } from './reach';
import { Turns } from './turns';

const ID = 'hermes-approvals';

/** Shows the cell with this id in the notebook of a kernel. */
export type ShowCell = (kernel: string, cell: string) => void;

export class ApprovalsPanel extends ReactWidget {
  constructor(
    private readonly agents: IAgents,
    translator: ITranslator,
    private readonly showCell: ShowCell,
    private readonly leave: () => void
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
        {() => (
          <Content
            agents={this.agents}
            trans={this.trans}
            show={this.showCell}
            leave={this.leave}
          />
        )}
      </UseSignal>
    );
  }

  /** Put the keyboard's focus to what waits. */
  enter(): void {
    void Promise.resolve(this.renderPromise).then(() => enter(this.node));
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
  /** Goes back to the notebook. */
  leave: () => void;
}

function Content({ agents, trans, show, leave }: IContentProps): JSX.Element {
  const { kernels, count } = agents;
  const now = useNow(count > 0);
  const items = kernels.flatMap(each => each.items);
  const places = items.map(({ waiting, outcome }) => `${waiting.id} ${outcome !== null}`);
  const moved = useMoves(places.join());
  return (
    <div
      className={`hermes-Panel-content hermes-mod-moved-${moved}`}
      tabIndex={-1}
      onKeyDown={event => move(event, leave)}
    >
      <h2>{trans.__('Hermes')}</h2>
      <p className="hermes-Panel-count" role="status" aria-live="polite">
        {count === 0
          ? trans.__('Nothing waits for you.')
          : trans._n('%1 request waits for you.', '%1 requests wait for you.', count)}
      </p>
      {items.length === 0 && (
        <p className="hermes-Panel-hint">
          {trans.__('What the agents of your notebooks ask can be answered here.')}
        </p>
      )}
      <OfferNotices trans={trans} />
      {kernels.flatMap(({ kernel, name, isConnected, items }) =>
        items.map(({ waiting, outcome, isMine }) => {
          // Ids are of one kernel; what is asked anew under one is another request.
          const key = `${kernel} ${waiting.id} ${waiting.digest}`;
          const frame = {
            outcome,
            isMine,
            name,
            isConnected,
            now,
            trans,
            show: () => show(kernel, waiting.cell)
          };
          return waiting.kind === 'approval' ? (
            <Card
              key={key}
              approval={waiting}
              answer={(choice, more) => agents.answer(kernel, waiting, choice, more)}
              {...frame}
            />
          ) : (
            <Question
              key={key}
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
        say={(kernel, turn, text) => agents.say(kernel, turn, text)}
        stop={(kernel, turn) => agents.stop(kernel, turn)}
      />
      <Reach line={agents.line} trans={trans} />
    </div>
  );
}

/**
 * 0 and 1 in turn, as often as cards come, go or shrink: a click that was meant for another must not
 * hit a button that has moved below the pointer.
 */
function useMoves(places: string): number {
  const before = React.useRef({ places, moves: 0 });
  if (before.current.places !== places) {
    before.current = { places, moves: before.current.moves + 1 };
  }
  return before.current.moves % 2;
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
