/**
 * One open notebook, as the kernel's `hermes.cells` sees it: opens the comm whenever there is a
 * kernel that may know it, and answers what comes.
 */

import { Notebook, NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { ISessionContext } from '@jupyterlab/apputils';
import { Cell } from '@jupyterlab/cells';
import { Kernel, KernelMessage } from '@jupyterlab/services';
import { JSONObject, JSONValue } from '@lumino/coreutils';
import { IDisposable } from '@lumino/disposable';

import { CAN, IRequest, isRequest, PROTOCOL, Refusal, TARGET } from './protocol';
import { RawComm } from './rawComm';

/** Cells with one of these may load the extension. */
const MENTIONED = /hermes|^\s*%%agent/m;
const GONE: Kernel.Status[] = ['restarting', 'autorestarting', 'dead', 'terminating'];

export class CellsPage implements IDisposable {
  constructor(
    private readonly panel: NotebookPanel,
    private readonly answer: (request: IRequest) => JSONObject
  ) {
    const { sessionContext, context } = panel;
    sessionContext.kernelChanged.connect(this.meet, this);
    sessionContext.statusChanged.connect(this.notice, this);
    sessionContext.iopubMessage.connect(this.listen, this);
    context.pathChanged.connect(this.rename, this);
    NotebookActions.executed.connect(this.ran, this);
    void context.ready.then(() => this.meet());
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this.isDisposed) {
      return;
    }
    this._isDisposed = true;
    this.comm?.close();
    this.comm = null;
    const { sessionContext, context } = this.panel;
    sessionContext.kernelChanged.disconnect(this.meet, this);
    sessionContext.statusChanged.disconnect(this.notice, this);
    sessionContext.iopubMessage.disconnect(this.listen, this);
    context.pathChanged.disconnect(this.rename, this);
    NotebookActions.executed.disconnect(this.ran, this);
  }

  /** A kernel is there that was not before, or it is this page that is new. */
  private meet(): void {
    this.comm?.dispose();
    this.comm = null;
    const cells = Array.from(this.panel.content.model?.cells ?? []);
    if (cells.some(cell => MENTIONED.test(cell.sharedModel.getSource()))) {
      this.open();
    }
  }

  private notice(_: ISessionContext, status: Kernel.Status): void {
    if (GONE.includes(status)) {
      this.comm?.dispose();
      this.comm = null;
    }
  }

  /** The extension says something: it is loaded. */
  private listen(_: ISessionContext, message: KernelMessage.IMessage): void {
    if ((message.header.msg_type as string) === 'hermes_event') {
      this.open();
    }
  }

  private ran(_: unknown, { notebook, cell }: { notebook: Notebook; cell: Cell }): void {
    if (
      notebook === this.panel.content &&
      MENTIONED.test(cell.model.sharedModel.getSource())
    ) {
      this.open();
    }
  }

  private rename(): void {
    this.comm?.send({ notebook: this.panel.context.path });
  }

  private open(): void {
    const kernel = this.panel.sessionContext.session?.kernel;
    if (this.comm !== null || this.isDisposed || !kernel || GONE.includes(kernel.status)) {
      return;
    }
    const comm = new RawComm(kernel, TARGET, {
      protocol: PROTOCOL,
      notebook: this.panel.context.path,
      can: CAN
    });
    comm.received.connect(this.receive, this);
    comm.closed.connect(() => {
      if (this.comm === comm) {
        this.comm = null;
      }
    });
    this.comm = comm;
  }

  private receive(comm: RawComm, data: JSONValue): void {
    if (isRequest(data)) {
      comm.send({ id: data.id, ...this.outcome(data) });
    }
  }

  private outcome(request: IRequest): JSONObject {
    try {
      return { ok: true, result: this.answer(request) };
    } catch (problem) {
      if (problem instanceof Refusal) {
        return { ok: false, error: problem.reason, message: problem.message };
      }
      console.error('hermes: a request about cells failed', request.do, problem);
      return { ok: false, error: 'refused', message: `the page failed: ${problem}` };
    }
  }

  private comm: RawComm | null = null;
  private _isDisposed = false;
}
