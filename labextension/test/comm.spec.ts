import { NotebookPanel } from '@jupyterlab/notebook';
import { Kernel } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';

import { CellsPage } from '../src/cells/page';
import { FakeKernel, settled } from './fakes';

const LOADED = ['hermes agents'];

/** The panel of a notebook; only what concerns its kernel. */
class FakePanel {
  constructor(public kernel: FakeKernel) {
    this.follow(kernel);
  }

  readonly context = { path: 'work.ipynb', pathChanged: new Signal<this, string>(this) };
  readonly sessionContext = {
    session: this,
    kernelChanged: new Signal<this, void>(this),
    disposed: new Signal<this, void>(this),
    statusChanged: new Signal<this, Kernel.Status>(this),
    connectionStatusChanged: new Signal<this, Kernel.ConnectionStatus>(this),
    iopubMessage: new Signal<this, unknown>(this)
  };

  follow(kernel: FakeKernel): void {
    const { connectionStatusChanged, statusChanged, iopubMessage } = this.sessionContext;
    this.kernel = kernel;
    kernel.connectionStatusChanged.connect((_, is) => connectionStatusChanged.emit(is));
    kernel.statusChanged.connect((_, status) => statusChanged.emit(status));
    kernel.iopubMessage.connect((_, message) => iopubMessage.emit(message));
    this.sessionContext.kernelChanged.emit();
  }
}

let page: CellsPage;

function shown(kernel: FakeKernel): FakePanel {
  const panel = new FakePanel(kernel);
  page = new CellsPage(panel as unknown as NotebookPanel, () => ({}));
  return panel;
}

afterEach(() => page.dispose());

test('a kernel that has not loaded the extension is sent no comm, whatever happens', async () => {
  const kernel = new FakeKernel('k', ['debugger']);
  shown(kernel);
  await settled();
  kernel.connect('connecting');
  kernel.connect('connected');
  await settled();
  expect(kernel.sent).toEqual([]);
});

test('one that had loaded it before is, once', async () => {
  const kernel = new FakeKernel('k', LOADED);
  shown(kernel);
  await settled();
  kernel.connect('connected');
  await settled();
  expect(kernel.sent).toEqual(['comm_open']);
});

test('one that loads it, unloads it and loads it again has a comm whenever it knows it', () => {
  const kernel = new FakeKernel('k', []);
  shown(kernel);
  kernel.tell({ event: 'ready' });
  kernel.tell({ event: 'turn' });
  expect(kernel.sent).toEqual(['comm_open']);
  kernel.tell({ event: 'unloaded' });
  kernel.tell({ event: 'ready' });
  expect(kernel.sent).toEqual(['comm_open', 'comm_close', 'comm_open']);
});

test('one that is started anew has a comm if the extension is loaded then', async () => {
  const kernel = new FakeKernel('k', LOADED);
  shown(kernel);
  await settled();
  kernel.statusChanged.emit('restarting');
  kernel.connect('connected');
  await settled();
  expect(kernel.sent).toEqual(['comm_open', 'comm_open']);
});

test('an answer of the kernel before does not open one to the kernel now', async () => {
  const [before, now] = [new FakeKernel('k1', LOADED), new FakeKernel('k2', [])];
  shown(before).follow(now);
  await settled();
  expect([before.sent, now.sent]).toEqual([[], []]);
});
