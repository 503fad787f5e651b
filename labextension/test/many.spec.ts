/** Fifty kernels that wait at one time, some of them with the same ids. */

import { Session } from '@jupyterlab/services';
import { nullTranslator } from '@jupyterlab/translation';
import { JSONObject } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { Agents } from '../src/agents/agents';
import { Kernels } from '../src/agents/kernels';
import { ServerLine } from '../src/agents/server';
import { ApprovalsPanel } from '../src/approvals/panel';
import { FakeKernel, settled } from './fakes';

const MANY = 50;

/** A kernel in which one call waits; in all of them it has the same id. */
class Asking extends FakeKernel {
  constructor(readonly number: number) {
    super(`kernel-${number}`, ['hermes agents'], content => this.reply(content));
  }

  readonly answers: JSONObject[] = [];
  isAsking = true;

  private get request(): JSONObject {
    return {
      id: 'same',
      digest: `digest-${this.number}`,
      what: `rm file-${this.number}.txt`,
      tool: 'terminal',
      choices: ['once', 'deny']
    };
  }

  private reply(content: JSONObject): JSONObject {
    if (content.do === 'pending') {
      const requests = this.isAsking ? [this.request] : [];
      return { status: 'ok', requests, questions: [], turns: [] };
    }
    this.answers.push(content);
    return { status: 'ok', outcome: { decision: String(content.choice), by: 'message' } };
  }
}

const line = { isOpen: false, state: 'missing' } as unknown as ServerLine;
Object.assign(line, { told: new Signal(line), changed: new Signal(line) });
const sessions = { running: () => [] } as unknown as Session.IManager;

let kernels: Asking[];
let agents: Agents;
let panel: ApprovalsPanel;

beforeEach(async () => {
  kernels = Array.from({ length: MANY }, (_, number) => new Asking(number));
  const watched = new Kernels(line);
  agents = new Agents(watched, sessions);
  const nothing = (): void => undefined;
  panel = new ApprovalsPanel(agents, nullTranslator, nothing, nothing);
  Widget.attach(panel, document.body);
  kernels.forEach(kernel => watched.use(kernel.connection));
  await until(() => cards().length === MANY);
});

afterEach(() => panel.dispose());

const cards = (): Element[] =>
  Array.from(panel.node.querySelectorAll('[role=alertdialog]'));

const card = (number: number): Element => {
  const wanted = cards().filter(
    each => each.querySelector('pre')?.textContent === `rm file-${number}.txt`
  );
  expect(wanted).toHaveLength(1);
  return wanted[0];
};

function click(number: number, label: string): void {
  const buttons = Array.from(card(number).querySelectorAll('button'));
  buttons.find(({ textContent }) => textContent === label)?.click();
}

async function until(holds: () => boolean): Promise<void> {
  for (let turns = 0; !holds(); turns++) {
    expect(turns).toBeLessThan(1_000);
    await settled();
  }
}

test('each has its card, and all are counted', () => {
  expect(panel.node.textContent).toContain('50 requests wait for you.');
  kernels.forEach(({ number, id }) =>
    expect(card(number).textContent).toContain(id.slice(0, 8))
  );
});

test('an answer goes to the kernel that asked, with what it showed, and to no other', async () => {
  click(37, 'Deny');
  click(3, 'Allow once');
  await until(() => agents.count === MANY - 2);
  const got = kernels.filter(({ answers }) => answers.length > 0);
  expect(got.map(({ number }) => number)).toEqual([3, 37]);
  expect(got.map(({ answers }) => answers)).toMatchObject([
    [{ do: 'answer', request: 'same', digest: 'digest-3', choice: 'once' }],
    [{ do: 'answer', request: 'same', digest: 'digest-37', choice: 'deny' }]
  ]);
  await until(() => panel.node.textContent?.includes('48 requests') ?? false);
  expect(card(37).textContent).toContain('Denied');
  expect(card(38).textContent).not.toContain('Denied');
});

test('what is typed for one stays with it when others go', async () => {
  click(7, 'Deny with a note…');
  await until(() => card(7).querySelector('textarea') !== null);
  kernels[2].isAsking = kernels[6].isAsking = false;
  kernels[2].connect('connected');
  kernels[6].connect('connected');
  await until(() => cards().length === MANY - 2);
  const writing = kernels.filter(
    ({ number, isAsking }) => isAsking && card(number).querySelector('textarea')
  );
  expect(writing.map(({ number }) => number)).toEqual([7]);
});

test('what one kernel tells changes nothing of another', async () => {
  kernels[1].tell({
    event: 'answered',
    request: { id: 'same', outcome: { decision: 'once', by: 'message', said: 'Yes' } }
  });
  await until(() => agents.count === MANY - 1);
  const open = agents.kernels.filter(({ items }) => items.some(each => !each.outcome));
  expect(open.map(({ kernel }) => kernel)).toEqual(
    kernels.filter(({ number }) => number !== 1).map(({ id }) => id)
  );
});
