/**
 * How many requests wait, in the status bar.
 */

import { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import * as React from 'react';

import { IAgents } from '../agents/agents';
import { DOMAIN } from '../names';

export class WaitingStatus extends ReactWidget {
  constructor(
    private readonly agents: IAgents,
    translator: ITranslator,
    private readonly open: () => void
  ) {
    super();
    this.trans = translator.load(DOMAIN);
    this.id = 'hermes-status';
    this.addClass('hermes-Status');
  }

  protected render(): JSX.Element {
    return <UseSignal signal={this.agents.changed}>{() => this.item()}</UseSignal>;
  }

  private item(): JSX.Element | null {
    const { agents, trans } = this;
    const turns = agents.kernels.flatMap(kernel => kernel.turns).length;
    if (agents.count + turns === 0) {
      return null;
    }
    const text =
      agents.count > 0
        ? trans._n('Hermes: %1 waiting', 'Hermes: %1 waiting', agents.count)
        : trans._n('Hermes: %1 working', 'Hermes: %1 working', turns);
    return (
      <button
        type="button"
        className={agents.count > 0 ? 'hermes-mod-waiting' : ''}
        title={trans.__('Show what agents ask you')}
        onClick={this.open}
      >
        {text}
      </button>
    );
  }

  private readonly trans: TranslationBundle;
}
