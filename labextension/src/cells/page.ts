/**
 * One open notebook, as the kernel's `hermes.cells` sees it: opens the comm whenever there is a
 * kernel that knows it, and answers what comes.
 */

import { ISessionContext } from '@jupyterlab/apputils';
import { NotebookPanel } from '@jupyterlab/notebook';
import { Kernel, KernelMessage } from '@jupyterlab/services';
import { JSONObject, JSONValue } from '@lumino/coreutils';
import { IDisposable } from '@lumino/disposable';

import { speaks } from '../agents/control';
import { EVENT, object } from '../agents/protocol';
import { CAN, IRequest, isRequest, PROTOCOL, Refusal, TARGET } from './protocol';
import { RawComm } from './rawComm';
import { thisWindow } from './thisWindow';

const GONE: Kernel.Status[] = ['restarting', 'autorestarting', 'dead', 'terminating'];

export class CellsPage implements IDisposable {
  constructor(
    private readonly panel: NotebookPanel,
    private readonly answer: (request: IRequest) => JSONObject
  ) {
    const { sessionContext, context } = panel;
    sessionContext.kernelChanged.connect(this.meet, this);
    sessionContext.statusChanged.connect(this.notice, this);
    sessionContext.connectionStatusChanged.connect(this.look, this);
    sessionContext.iopubMessage.connect(this.listen, this);
    // At the last moment at which the kernel can be told that the notebook was closed.
    sessionContext.disposed.connect(this.dispose, this);
    context.pathChanged.connect(this.rename, this);
    this.look();
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
    sessionContext.connectionStatusChanged.disconnect(this.look, this);
    sessionContext.iopubMessage.disconnect(this.listen, this);
    sessionContext.disposed.disconnect(this.dispose, this);
    context.pathChanged.disconnect(this.rename, this);
  }

  /** There is another kernel. */
  private meet(): void {
    this.comm?.dispose();
    this.comm = null;
    this.look();
  }

  private look(): void {
    const { kernel } = this;
    if (kernel?.connectionStatus === 'connected') {
      void this.greet(kernel);
    }
  }

  /** The extension may have been loaded before; a kernel without it would complain of the comm. */
  private async greet(kernel: Kernel.IKernelConnection): Promise<void> {
    if ((await speaks(kernel)) && kernel === this.kernel) {
      this.open();
    }
  }

  private notice(_: ISessionContext, status: Kernel.Status): void {
    if (GONE.includes(status)) {
      this.comm?.dispose();
      this.comm = null;
    }
  }

  /** The extension says something: it is loaded, or was until now. */
  private listen(_: ISessionContext, { header, content }: KernelMessage.IMessage): void {
    if ((header.msg_type as string) !== EVENT) {
      return;
    }
    if (object(content as JSONValue).event === 'unloaded') {
      this.comm?.close();
      this.comm = null;
    } else {
      this.open();
    }
  }

  private rename(): void {
    this.comm?.send({ notebook: this.panel.context.path });
  }

  private open(): void {
    const { kernel } = this;
    if (this.comm !== null || this.isDisposed || !kernel || GONE.includes(kernel.status)) {
      return;
    }
    const comm = new RawComm(kernel, TARGET, {
      settings: this.settings,
      protocol: PROTOCOL,
      notebook: this.panel.context.path,
      window: thisWindow(),
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

  private get kernel(): Kernel.IKernelConnection | null {
    return this.panel.sessionContext.session?.kernel ?? null;
  }

  private receive(comm: RawComm, data: JSONValue): void {
    if (isRequest(data)) {
      comm.send({ id: data.id, ...this.outcome(data) });
    }
    this.accepted = comm;
  }

  /** What holds for the turns of this page from now on. */
  set(settings: JSONObject): void {
    this.settings = settings;
    this.comm?.send({ settings });
  }

  /** Have a comm by which the next cell is preceded, if nobody has answered on one yet. */
  openForSure(): void {
    if (this.comm === null || this.comm !== this.accepted) {
      this.comm?.dispose();
      this.comm = null;
      this.open();
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
  private accepted: RawComm | null = null;
  private settings: JSONObject = {};
  private _isDisposed = false;
}
