/**
 * What a call would do, as far as its reasons have not said it: a few in sight, the others folded.
 */

import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { IApproval } from '../agents/protocol';

const IN_SIGHT = 5;

interface IEffectsProps {
  approval: IApproval;
  trans: TranslationBundle;
}

export function Effects({ approval, trans }: IEffectsProps): JSX.Element | null {
  const { effects, effectsLeftOut, reasons } = approval;
  const also = effects.filter(effect => !reasons.includes(effect));
  const folded = also.slice(IN_SIGHT);
  const more = folded.length + effectsLeftOut;
  if (also.length + more === 0) {
    return null;
  }
  return (
    <div className="hermes-Card-effects" role="group" aria-label={trans.__('What it does')}>
      <List effects={also.slice(0, IN_SIGHT)} />
      {folded.length > 0 ? (
        <details>
          <summary>{trans._n('and %1 more', 'and %1 more', more)}</summary>
          <List effects={folded} />
          {effectsLeftOut > 0 && <p>{leftOut(effectsLeftOut, trans)}</p>}
        </details>
      ) : (
        effectsLeftOut > 0 && <p>{leftOut(effectsLeftOut, trans)}</p>
      )}
    </div>
  );
}

function List({ effects }: { effects: readonly string[] }): JSX.Element {
  return (
    <ul>
      {effects.map((effect, number) => (
        <li key={number}>{effect}</li>
      ))}
    </ul>
  );
}

function leftOut(number: number, trans: TranslationBundle): string {
  return trans._n('and %1 more, not told', 'and %1 more, not told', number);
}
