import { Cell } from '@jupyterlab/cells';
import { NotebookPanel } from '@jupyterlab/notebook';
import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';

import { ITurn } from '../src/agents/protocol';
import { notebook } from '../src/notebook';
import { canBeFixed, errorOf } from '../src/notebook/cells';
import { isPython, runsIn } from '../src/notebook/kernel';
import { wordsOf } from '../src/notebook/runningTurn';

const TURN: ITurn = {
  turn: 't',
  session: 'default',
  cell: 'c',
  state: 'working',
  title: '',
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

function cell(source: string, ...outputs: string[]): Cell {
  const model = {
    type: 'code',
    sharedModel: { getSource: () => source },
    outputs: { length: outputs.length, get: (place: number) => ({ type: outputs[place] }) }
  };
  return { model } as unknown as Cell;
}

test.each([
  ['1 / 0', ['error'], true],
  ['1 / 0', ['stream', 'error', 'stream'], true],
  ['1', ['stream'], false],
  ['%%agent\n1 / 0', ['error'], false],
  ['%hermes fix', ['error'], false],
  ['%hermesque', ['error'], true]
])('whether %j with %j can be fixed', (source, outputs, expected) => {
  expect(canBeFixed(cell(source, ...outputs))).toBe(expected);
});

test('of several errors the last one is meant', () => {
  expect(errorOf(cell('1', 'error', 'stream', 'error', 'stream'))).toBe(2);
});

interface IFake {
  language?: string;
  readOnly?: boolean;
  active?: Cell;
  turns?: ITurn[];
}

function commandsWith({ language, readOnly = false, active, turns = [] }: IFake) {
  const metadata: Record<string, object> = { kernelspec: { language } };
  const panel = {
    content: { model: { readOnly, getMetadata: (name: string) => metadata[name] } },
    sessionContext: { session: { kernel: { id: 'k' } } }
  };
  const source = {};
  const tracker = {
    currentWidget: panel,
    activeCell: active ?? null,
    activeCellChanged: new Signal(source),
    currentChanged: new Signal(source),
    widgetAdded: new Signal(source),
    forEach: () => undefined
  };
  const agents = { kernels: [{ kernel: 'k', turns }], changed: new Signal(source) };
  const commands = new CommandRegistry();
  void notebook.activate({ commands } as never, agents, tracker, null, null, null, null);
  return {
    commands,
    enabled: commands.listCommands().filter(id => commands.isEnabled(id))
  };
}

test('every command says what it is called and what it does', () => {
  const { commands } = commandsWith({});
  const ids = commands.listCommands();
  expect(ids.length).toBeGreaterThan(2);
  expect(ids.filter(id => !commands.label(id) || !commands.caption(id))).toEqual([]);
  expect(ids.filter(id => !id.startsWith('hermes:'))).toEqual([]);
});

const FAILED = cell('1 / 0', 'error');

test.each<[string, IFake, string[]]>([
  ['of Python', { language: 'python' }, ['hermes:ask-below']],
  ['that says no language', {}, ['hermes:ask-below']],
  ['of R', { language: 'R', active: FAILED }, []],
  ['that is only read', { readOnly: true, active: FAILED }, []],
  ['with a failure', { active: FAILED }, ['hermes:ask-below', 'hermes:fix-cell']],
  ['with a turn', { turns: [TURN] }, ['hermes:ask-below', 'hermes:stop-turn']]
])('in a notebook %s only those commands are enabled that do something', (_, fake, ids) => {
  expect(commandsWith(fake).enabled.sort()).toEqual(ids);
});

test('a notebook is of Python if it says so, or nothing', () => {
  const of = (language_info?: object) => {
    const getMetadata = (name: string) =>
      name === 'language_info' ? language_info : undefined;
    return isPython({ content: { model: { getMetadata } } } as unknown as NotebookPanel);
  };
  expect([of(), of({ name: 'python' }), of({ name: 'julia' })]).toEqual([
    true,
    true,
    false
  ]);
});

test.each([true, false])('where there is no kernel one is chosen (%j)', async chosen => {
  const asked: string[] = [];
  const kernel = {
    requestExecute: ({ code, silent }: { code: string; silent: boolean }) => {
      asked.push(`${code} ${silent}`);
      return { done: Promise.resolve({ content: { status: 'ok' } }) };
    }
  };
  const context = {
    hasNoKernel: true,
    session: null as object | null,
    startKernel: () => Promise.resolve(true)
  };
  const dialogs = {
    selectKernel: () => {
      context.session = chosen ? { kernel } : null;
      return Promise.resolve();
    }
  };
  const panel = { content: {}, sessionContext: context } as unknown as NotebookPanel;
  const runs = runsIn(panel, dialogs as never, nullTranslator.load(''));
  expect(await runs.ready()).toBe(chosen);
  expect(asked).toEqual(chosen ? ['%load_ext hermes_jupyter true'] : []);
});
