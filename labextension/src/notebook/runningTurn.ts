/**
 * What the agent does in a notebook now, in its toolbar: steps, cost, and a button that ends it.
 */

import { NotebookPanel } from '@jupyterlab/notebook';
import { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import { IAgents } from '../agents';
import { ITurn } from '../agents/protocol';

export class RunningTurn extends Widget {
  constructor(agents: IAgents, panel: NotebookPanel, trans: TranslationBundle) {
    super();
    this._agents = agents;
    this._panel = panel;
    this._trans = trans;
    this.addClass('hermes-RunningTurn');
    this._text.className = 'hermes-RunningTurn-text';
    this._button.type = 'button';
    this._button.textContent = trans.__('Stop');
    this._button.addEventListener('click', () => void this._stop());
    this.node.append(this._text, this._button);
    agents.changed.connect(this._draw, this);
    panel.sessionContext.kernelChanged.connect(this._draw, this);
    this._draw();
  }

  private get _turns(): readonly ITurn[] {
    return turnsOf(this._agents, this._panel);
  }

  private _draw(): void {
    const turns = this._turns;
    this.setHidden(turns.length === 0);
    if (turns.length === 0) {
      return;
    }
    const text = turns.length === 1 ? wordsOf(turns[0], this._trans) : this._several(turns);
    if (this._text.textContent !== text) {
      this._text.textContent = text;
    }
    const title = turns.map(turn => turn.title).join('\n');
    this.node.title = title;
    this._button.setAttribute('aria-label', this._trans.__('Stop the agent'));
  }

  private _several(turns: readonly ITurn[]): string {
    const cost = turns.reduce((sum, turn) => sum + turn.cost, 0);
    const agents = this._trans._n('%1 agent', '%1 agents', turns.length);
    return [agents, dollars(cost)].filter(Boolean).join(' · ');
  }

  private async _stop(): Promise<void> {
    await stopAll(this._agents, this._panel);
  }

  private readonly _agents: IAgents;
  private readonly _panel: NotebookPanel;
  private readonly _trans: TranslationBundle;
  private readonly _text = document.createElement('span');
  private readonly _button = document.createElement('button');
}

/** What runs in a notebook's kernel. */
export function turnsOf(agents: IAgents, panel: NotebookPanel | null): readonly ITurn[] {
  const kernel = panel?.sessionContext.session?.kernel?.id;
  return agents.kernels.find(each => each.kernel === kernel)?.turns ?? [];
}

/** End all turns of a notebook's kernel. */
export async function stopAll(agents: IAgents, panel: NotebookPanel): Promise<void> {
  const kernel = panel.sessionContext.session?.kernel?.id;
  const turns = turnsOf(agents, panel);
  const ends = await Promise.allSettled(turns.map(turn => agents.stop(kernel ?? '', turn)));
  ends.forEach(end => {
    if (end.status === 'rejected') {
      console.warn('The agent was not stopped:', end.reason);
    }
  });
}

/** "Step 3 of 90 · $0.0042"; "Asks you". */
export function wordsOf(turn: ITurn, trans: TranslationBundle): string {
  const step = turn.maxSteps
    ? trans.__('Step %1 of %2', turn.steps, turn.maxSteps)
    : trans.__('Step %1', turn.steps);
  const state = turn.state === 'asking' ? trans.__('Asks you') : '';
  return [state, step, dollars(turn.cost)].filter(Boolean).join(' · ');
}

function dollars(cost: number): string {
  return cost > 0 ? `$${cost.toFixed(cost >= 1 ? 2 : 4)}` : '';
}
