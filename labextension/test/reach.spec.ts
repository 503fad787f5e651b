import { nullTranslator } from '@jupyterlab/translation';

import { LineState } from '../src/agents/server';
import { Reach } from '../src/approvals/reach';

const shown = (line: LineState): string =>
  String(Reach({ line, trans: nullTranslator.load('') })?.props.children ?? '');

test('a page that sees only its own kernels says so, and what to do', () => {
  expect(shown('missing')).toContain(
    'install hermes-jupyter where the Jupyter server runs'
  );
  expect(shown('lost')).toContain('is seen when it is back');
});

test('a page that sees all kernels, or may soon, says nothing', () => {
  expect([shown('open'), shown('opening')]).toEqual(['', '']);
});
