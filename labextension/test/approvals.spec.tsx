import { nullTranslator } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import * as React from 'react';

import { IAgents } from '../src/agents';
import { approvalOf, IApproval, IOutcome } from '../src/agents/protocol';
import { Card } from '../src/approvals/card';
import { ApprovalsPanel } from '../src/approvals/panel';
import { Diff } from '../src/parts/diff';

const trans = nullTranslator.load('');

async function drawn(element: JSX.Element): Promise<HTMLElement> {
  const widget = ReactWidget.create(element);
  Widget.attach(widget, document.body);
  await widget.renderPromise;
  return widget.node;
}

function asked(more: object): IApproval {
  return approvalOf({
    id: 'a',
    digest: 'd',
    tool: 'terminal',
    what: 'rm x',
    choices: ['once', 'deny', 'edit'],
    edit: { name: 'command', text: 'rm x' },
    ...more
  }) as IApproval;
}

function card(more: object, answer = jest.fn(), outcome: IOutcome | null = null) {
  return (
    <Card
      approval={asked(more)}
      answer={answer}
      outcome={outcome}
      isMine={false}
      name="a.ipynb"
      isConnected={true}
      now={0}
      trans={trans}
      show={() => undefined}
    />
  );
}

function button(node: HTMLElement, label: string): HTMLButtonElement {
  const all = [...node.querySelectorAll('button')];
  return all.find(each => each.textContent === label) as HTMLButtonElement;
}

const painted = (): Promise<unknown> => new Promise(done => requestAnimationFrame(done));

test('names of files are no changed lines of a difference', async () => {
  const node = await drawn(<Diff text={'--- a\n+++ b\n@@ -1 +1 @@\n--- x\n+y\n'} />);
  const kinds = [...node.querySelectorAll('span')].map(({ className }) =>
    className.slice(12)
  );
  expect(kinds).toEqual(['place', 'place', 'place', 'removed', 'added']);
});

test('a few of many effects are in sight, the others folded, none is lost', async () => {
  const effects = Array.from({ length: 9 }, (_, n) => `deletes ${n}`);
  const node = await drawn(card({ effects, effects_left_out: 3 }));
  const inSight = node.querySelectorAll('.hermes-Card-effects > ul > li');
  expect(inSight).toHaveLength(5);
  expect(node.querySelectorAll('li')).toHaveLength(9);
  expect(node.querySelector('summary')?.textContent).toBe('and 7 more');
  expect(node.querySelector('details p')?.textContent).toContain('3 more');
});

test('Escape in the field of an edit goes back to the request, and answers nothing', async () => {
  const answer = jest.fn();
  const node = await drawn(card({}, answer));
  button(node, 'Edit…').click();
  await painted();
  const field = node.querySelector('textarea') as HTMLTextAreaElement;
  expect(document.activeElement).toBe(field);
  field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
  await painted();
  expect(node.querySelector('textarea')).toBeNull();
  expect(document.activeElement).toBe(node.querySelector('section'));
  expect(answer).not.toHaveBeenCalled();
});

test('the field of an edit is as high as a long line in it', async () => {
  const edit = { name: 'command', text: 'word '.repeat(40) };
  const node = await drawn(card({ edit }));
  button(node, 'Edit…').click();
  await painted();
  expect(node.querySelector('textarea')?.rows).toBe(9);
});

test('the focus stays in the card that is being answered', async () => {
  const node = await drawn(
    card(
      {},
      jest.fn(() => new Promise(() => undefined))
    )
  );
  button(node, 'Deny').focus();
  button(node, 'Deny').click();
  await painted();
  expect(document.activeElement?.textContent).toBe('Sending…');
  expect(document.activeElement?.getAttribute('role')).toBe('status');
});

test('buttons rest for a moment when cards come, go or shrink, and at no other time', async () => {
  const item = (id: string, outcome: IOutcome | null = null) => ({
    waiting: asked({ id }),
    outcome
  });
  const agents = {
    kernels: [] as object[],
    count: 1,
    changed: new Signal({}),
    asked: new Signal({})
  };
  const nothing = (): void => undefined;
  const told = agents as unknown as IAgents;
  const panel = new ApprovalsPanel(told, nullTranslator, nothing, nothing);
  Widget.attach(panel, document.body);
  await panel.renderPromise;
  const rests = async (items: object[], turns: object[] = []): Promise<boolean> => {
    const before = panel.node.firstElementChild?.className;
    agents.kernels = [{ kernel: 'k', name: 'a.ipynb', isConnected: true, items, turns }];
    agents.changed.emit(undefined);
    await painted();
    return panel.node.firstElementChild?.className !== before;
  };
  const said: IOutcome = { decision: 'deny', by: '', said: 'Denied' };
  expect(await rests([item('a'), item('b')])).toBe(true);
  expect(await rests([item('a'), item('b')])).toBe(false);
  expect(await rests([item('a', said), item('b')])).toBe(true);
  expect(await rests([item('b')])).toBe(true);
});
