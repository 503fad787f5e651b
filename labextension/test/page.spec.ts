import { Notebook, NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { Kernel, KernelMessage } from '@jupyterlab/services';
import { JSONObject } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';

import { CellsPage } from '../src/cells/page';
import { tellSettings } from '../src/cells/settings';
import { Choices } from '../src/choices';

class FakeChoices extends Choices {
  constructor(public set: JSONObject) {
    super();
  }

  get current(): JSONObject {
    return this.set;
  }

  change(set: JSONObject): void {
    this.set = set;
    (this.changed as Signal<this, void>).emit();
  }
}

function opened(...sources: string[]) {
  const posted: JSONObject[] = [];
  const source = {};
  const kernel = {
    status: 'idle',
    connectionStatus: 'connecting',
    clientId: 'c',
    username: '',
    iopubMessage: new Signal<Kernel.IKernelConnection, KernelMessage.IIOPubMessage>(
      source as Kernel.IKernelConnection
    ),
    sendShellMessage: ({ content }: KernelMessage.IShellMessage) =>
      posted.push(content as unknown as JSONObject)
  };
  const cells = sources.map(text => ({ sharedModel: { getSource: () => text } }));
  const content = { model: { cells } };
  const disposed = new Signal<object, void>(source);
  const panel = {
    content,
    disposed,
    sessionContext: {
      session: { kernel },
      kernelChanged: new Signal(source),
      statusChanged: new Signal(source),
      connectionStatusChanged: new Signal(source),
      iopubMessage: new Signal(source),
      disposed: new Signal(source)
    },
    context: {
      path: 'a.ipynb',
      pathChanged: new Signal(source),
      ready: new Promise(() => undefined)
    }
  };
  const choices = new FakeChoices({ mode: 'plan' });
  const page = new CellsPage(panel as unknown as NotebookPanel, () => ({}));
  tellSettings(panel as unknown as NotebookPanel, page, choices);
  const schedule = (number: number): void =>
    (NotebookActions.executionScheduled as Signal<object, object>).emit({
      notebook: content as unknown as Notebook,
      cell: { model: cells[number] }
    });
  const told = (): unknown[] =>
    posted.map(({ data }) => (data as JSONObject).settings).filter(Boolean);
  const accept = (): void =>
    kernel.iopubMessage.emit({
      header: { msg_type: 'comm_msg' },
      content: { comm_id: posted[posted.length - 1].comm_id, data: { ready: true } }
    } as unknown as KernelMessage.IIOPubMessage);
  const close = (): void => {
    page.dispose();
    disposed.emit();
  };
  return { close, choices, schedule, told, accept };
}

const LOAD = '%load_ext hermes_jupyter';

test('what is set is told before a cell that asks is sent, and when it changes', () => {
  const { close, choices, schedule, told, accept } = opened(LOAD, '%%agent\ngo');
  schedule(0);
  expect(told()).toEqual([]);
  schedule(1);
  expect(told()).toEqual([{ mode: 'plan' }]);
  schedule(1); // nobody has said that it was heard
  expect(told()).toHaveLength(2);
  accept();
  schedule(1);
  expect(told()).toHaveLength(2);
  choices.change({ mode: 'deny' });
  expect(told()[2]).toEqual({ mode: 'deny' });
  close();
});

test.each([
  [['%%agent\ngo'], false],
  [['x = 1'], false],
  [['%hermes fix --cell a'], true]
])('whether the kernel of %j is told', (sources, expected) => {
  const { close, schedule, told } = opened(...sources);
  schedule(0);
  expect(told().length > 0).toBe(expected);
  close();
});
