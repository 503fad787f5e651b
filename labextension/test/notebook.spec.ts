import { nullTranslator } from '@jupyterlab/translation';

import { ITurn } from '../src/agents/protocol';
import { wordsOf } from '../src/notebook/runningTurn';

const TURN: ITurn = {
  turn: 't',
  session: 'default',
  cell: 'c',
  state: 'working',
  title: 'tidy up',
  model: 'm',
  steps: 3,
  maxSteps: 90,
  tokens: 1200,
  cost: 0,
  unpricedCalls: 0,
  startedAt: 0
};

test.each([
  [{}, 'Step 3 of 90'],
  [{ maxSteps: 0, cost: 0.0042 }, 'Step 3 · $0.0042'],
  [{ state: 'asking', cost: 1.5 }, 'Asks you · Step 3 of 90 · $1.50']
])('a turn that runs (%j) is told in few words', (change, words) => {
  expect(wordsOf({ ...TURN, ...change }, nullTranslator.load(''))).toBe(words);
});
