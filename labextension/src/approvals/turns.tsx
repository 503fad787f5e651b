/**
 * The turns that run now.
 */

import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { IKernelAgents } from '../agents/agents';
import { ITurn } from '../agents/protocol';
import { Button } from '../parts/button';
import { usage } from './words';

interface ITurnsProps {
  kernels: readonly IKernelAgents[];
  trans: TranslationBundle;
  show: (kernel: string, cell: string) => void;
  stop: (kernel: string, turn: ITurn) => void;
}

export function Turns({ kernels, trans, show, stop }: ITurnsProps): JSX.Element | null {
  const running = kernels.flatMap(kernel => kernel.turns.map(turn => ({ kernel, turn })));
  if (running.length === 0) {
    return null;
  }
  return (
    <section className="hermes-Turns" aria-label={trans.__('Running turns')}>
      <h3>{trans.__('Running')}</h3>
      <ul>
        {running.map(({ kernel, turn }) => (
          <li key={turn.turn}>
            <button
              type="button"
              className="hermes-Link"
              title={trans.__('Show the cell')}
              onClick={() => show(kernel.kernel, turn.cell)}
            >
              {kernel.name}
            </button>
            {turn.title && <p className="hermes-Turns-title">{turn.title}</p>}
            <p className="hermes-Turns-usage">
              {turn.state === 'asking' ? `${trans.__('waits for you')} · ` : ''}
              {usage(turn, trans)}
            </p>
            <Button text={trans.__('Stop')} click={() => stop(kernel.kernel, turn)} />
          </li>
        ))}
      </ul>
    </section>
  );
}
