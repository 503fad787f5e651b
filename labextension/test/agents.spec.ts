import { nullTranslator } from '@jupyterlab/translation';

import { approvalOf, outcomeOf, questionOf } from '../src/agents/protocol';
import {
  answered,
  ended,
  GONE,
  happened,
  IState,
  NOTHING,
  told,
  tried,
  without
} from '../src/agents/state';
import { whence } from '../src/approvals/words';

const REQUEST = {
  id: 'r1',
  digest: 'd1',
  asked_at: 1_793_970_000,
  turn: 't1',
  cell: 'c1',
  session: 'default',
  who: 'agent',
  tool: 'terminal',
  what: 'rm old.log',
  choices: ['once', 'deny']
};
const QUESTION = {
  id: 'q1',
  digest: 'd2',
  text: 'Which?',
  options: ['red'],
  secret: false
};
const TURN = { turn: 't1', state: 'working', steps: 1, max_steps: 90 };
const DENIED = { decision: 'deny', by: 'message', said: 'Denied by you' };

const ids = (state: IState): string[] => state.items.map(({ waiting }) => waiting.id);

test('what waits is read, and what is malformed is empty or left out', () => {
  const pending = {
    requests: [
      REQUEST,
      { ...REQUEST, id: 'r2', effects: 'no list', edit: 5, asked_at: 'x' },
      7
    ],
    questions: [QUESTION, { id: 'q2' }],
    turns: [TURN, null, {}]
  };
  const state = told(NOTHING, pending);
  expect(ids(state)).toEqual(['r1', 'r2', 'q1']);
  expect(state.items[1].waiting).toMatchObject({ effects: [], edit: null, askedAt: 0 });
  expect(state.turns.map(({ turn }) => turn)).toEqual(['t1']);
});

test('a request without a digest cannot be answered, and is not shown', () => {
  expect(approvalOf({ ...REQUEST, digest: '' })).toBeNull();
  expect(questionOf('text')).toBeNull();
});

test('what was asked waits until it is answered', () => {
  const asked = happened(NOTHING, { event: 'asked', request: REQUEST });
  expect(asked.items[0].outcome).toBeNull();
  const request = { id: 'r1', outcome: DENIED };
  const after = happened(asked, { event: 'answered', request });
  expect(after.items[0].outcome?.said).toBe('Denied by you');
  expect(without(after, 'r1')).toEqual(NOTHING);
});

test('a late word that it was asked does not make it wait again', () => {
  const asked = happened(NOTHING, { event: 'asked', request: REQUEST });
  const after = answered(asked, 'r1', outcomeOf(DENIED));
  expect(happened(after, { event: 'asked', request: REQUEST })).toEqual(after);
});

test('the outcome with more words counts, whichever comes first', () => {
  const asked = happened(NOTHING, { event: 'asked', request: REQUEST });
  const short = outcomeOf({ decision: 'deny', by: 'message' });
  const long = outcomeOf(DENIED);
  for (const [first, second] of [
    [short, long],
    [long, short]
  ]) {
    const after = answered(answered(asked, 'r1', first), 'r1', second);
    expect(after.items[0].outcome).toEqual(long);
  }
});

test('what the kernel does not name any more does not wait; what was answered stays a moment', () => {
  const two = told(NOTHING, { requests: [REQUEST, { ...REQUEST, id: 'r2' }] });
  const one = answered(two, 'r1', outcomeOf(DENIED));
  expect(ids(told(one, { requests: [] }))).toEqual(['r1']);
});

test('what was answered does not wait again because the kernel was asked before that', () => {
  const after = answered(told(NOTHING, { requests: [REQUEST] }), 'r1', outcomeOf(DENIED));
  expect(told(after, { requests: [REQUEST] }).items).toEqual(after.items);
});

test('what was asked since the kernel was asked what waits is not lost', () => {
  const { items } = happened(NOTHING, { event: 'asked', request: REQUEST });
  expect(ids(told({ items, turns: [] }, {}, items[0].heardAt - 1))).toEqual(['r1']);
  expect(ids(told({ items, turns: [] }, {}, items[0].heardAt + 1))).toEqual([]);
});

test('what is asked anew under an id, with another digest, is another request', () => {
  const other = { ...REQUEST, digest: 'd2', what: 'rm -r .' };
  const before = answered(told(NOTHING, { requests: [REQUEST] }), 'r1', outcomeOf(DENIED));
  for (const after of [
    told(before, { requests: [other] }),
    happened(before, { event: 'asked', request: other })
  ]) {
    expect(after.items.map(({ waiting }) => waiting.digest)).toEqual(['d2']);
    expect(after.items[0].outcome).toBeNull();
    expect(without(after, 'r1')).toEqual(after); // it waits
  }
});

test('who answered is said, and whether it was here', () => {
  const asked = told(NOTHING, { requests: [REQUEST] });
  const from = (isMine: true | undefined | false, by: string): string => {
    const state = isMine === false ? asked : tried(asked, 'r1', isMine);
    const [{ outcome, isMine: mine }] = answered(state, 'r1', outcomeOf({ by })).items;
    return outcome ? whence(outcome, mine, nullTranslator.load('')) : '';
  };
  expect(from(true, 'panel')).toBe('on this page');
  expect(from(false, 'panel')).toBe('on another page');
  expect(from(undefined, 'panel')).toBe(''); // it was tried here, and no reply came
  expect(from(false, 'widget')).toBe('below the cell');
});

test('a turn is there until it ends', () => {
  const begun = happened(NOTHING, { event: 'turn', turn: TURN });
  const asking = happened(begun, { event: 'turn', turn: { ...TURN, state: 'asking' } });
  expect(asking.turns.map(({ state }) => state)).toEqual(['asking']);
  expect(
    happened(asking, { event: 'turn', turn: { ...TURN, state: 'done' } }).turns
  ).toEqual([]);
});

test('events that are not known change nothing', () => {
  expect(happened(NOTHING, { event: 'danced' })).toBe(NOTHING);
});

test('what waited in a kernel that has ended is not allowed', () => {
  const asked = told(NOTHING, {
    requests: [REQUEST, { ...REQUEST, id: 'r2' }],
    turns: [TURN]
  });
  const after = ended(answered(asked, 'r1', outcomeOf(DENIED)));
  expect(after.items.map(({ outcome }) => outcome?.decision)).toEqual(['deny', GONE]);
  expect(after.turns).toEqual([]);
});
