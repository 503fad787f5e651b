/**
 * Says so where the panel cannot see all kernels: a request might wait unseen.
 */

import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { LineState } from '../agents/server';

interface IReachProps {
  line: LineState;
  trans: TranslationBundle;
}

export function Reach({ line, trans }: IReachProps): JSX.Element | null {
  const text = words(line, trans);
  return text === '' ? null : (
    <p role="note" className="hermes-Panel-reach">
      {text}
    </p>
  );
}

function words(line: LineState, trans: TranslationBundle): string {
  switch (line) {
    case 'missing':
      return trans.__(
        'Only what notebooks open in this page ask is seen here. To see all kernels, install hermes-jupyter where the Jupyter server runs, and start the server again.'
      );
    case 'lost':
      return trans.__(
        'The server does not answer now: what other kernels ask is seen when it is back.'
      );
    default:
      return '';
  }
}
