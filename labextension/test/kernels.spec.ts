import { Session } from '@jupyterlab/services';
import { JSONObject } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';

import { Agents } from '../src/agents/agents';
import { Kernels } from '../src/agents/kernels';
import { ITold, ServerLine } from '../src/agents/server';

/** A line to the server, that says what the test wants. */
class Line {
  readonly told = new Signal<this, ITold>(this);
  readonly changed = new Signal<this, void>(this);
  state = 'open';
  isOpen = true;

  says(told: JSONObject): void {
    this.told.emit({ told, since: performance.now() });
  }
}

const WAITS = {
  state: 'answers',
  requests: [{ id: 'r1', digest: 'd1', tool: 'terminal', what: 'rm old.log' }],
  questions: [],
  turns: [{ turn: 't1', state: 'asking' }]
};

function begin(): { line: Line; agents: Agents } {
  const line = new Line();
  const sessions = { running: () => [][Symbol.iterator]() } as unknown as Session.IManager;
  const agents = new Agents(new Kernels(line as unknown as ServerLine), sessions);
  line.says({ event: 'pending', kernels: [{ kernel: 'k1', ...WAITS }] });
  return { line, agents };
}

test('a server that was started anew, without the kernel, ends what waited in it', () => {
  const { line, agents } = begin();
  expect(agents.count).toBe(1);
  line.says({ event: 'pending', kernels: [{ kernel: 'k2', ...WAITS, requests: [] }] });
  expect(agents.count).toBe(0);
  const [k1] = agents.kernels;
  expect(k1.items.map(({ outcome }) => outcome?.decision)).toEqual(['gone']);
  expect(k1.turns).toEqual([]);
});

test('what waited in a kernel that was started anew since, without the extension, has ended', () => {
  const { line, agents } = begin();
  const unloaded = { state: 'unloaded', requests: [], questions: [], turns: [] };
  line.says({ event: 'pending', kernels: [{ kernel: 'k1', ...unloaded }] });
  expect(agents.count).toBe(0);
});

test('a kernel that is there but silent keeps what it was known to ask', () => {
  const { line, agents } = begin();
  const silent = { state: 'silent', requests: [], questions: [], turns: [] };
  line.says({ event: 'pending', kernels: [{ kernel: 'k1', ...silent }] });
  expect(agents.count).toBe(1);
});

test('nothing can be answered while the server is away, and it is told', () => {
  const { line, agents } = begin();
  let told = 0;
  agents.changed.connect(() => {
    told++;
  });
  Object.assign(line, { state: 'lost', isOpen: false });
  line.changed.emit();
  expect(told).toBe(1);
  expect(agents.line).toBe('lost');
  expect(agents.kernels[0].isConnected).toBe(false);
});
