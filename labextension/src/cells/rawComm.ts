/**
 * One comm, spoken by hand over a kernel connection.
 *
 * JupyterLab gives comms to the first connection of a kernel only; a second notebook on the same
 * kernel has none. And it opens a subshell for them, which an agent that runs in the main shell
 * does not hear.
 */

import { Kernel, KernelMessage } from '@jupyterlab/services';
import { JSONObject, JSONValue, UUID } from '@lumino/coreutils';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

export class RawComm implements IDisposable {
  constructor(
    readonly kernel: Kernel.IKernelConnection,
    target: string,
    data: JSONObject
  ) {
    kernel.iopubMessage.connect(this.hear, this);
    this.post('comm_open', { comm_id: this.id, target_name: target, data });
  }

  readonly id = UUID.uuid4();

  /** Data that the kernel sent. */
  get received(): ISignal<this, JSONValue> {
    return this._received;
  }

  /** The kernel has closed it. */
  get closed(): ISignal<this, void> {
    return this._closed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  send(data: JSONObject): void {
    if (!this.isDisposed) {
      this.post('comm_msg', { comm_id: this.id, data });
    }
  }

  /** Tell the kernel that nobody is here any more. */
  close(): void {
    if (!this.isDisposed && !this.kernel.isDisposed) {
      this.post('comm_close', { comm_id: this.id, data: {} });
    }
    this.dispose();
  }

  /** Forget it without a word: the kernel is gone. */
  dispose(): void {
    this._isDisposed = true;
    this.kernel.iopubMessage.disconnect(this.hear, this);
    Signal.clearData(this);
  }

  private hear(_: unknown, message: KernelMessage.IIOPubMessage): void {
    if (KernelMessage.isCommMsgMsg(message) && message.content.comm_id === this.id) {
      this._received.emit(message.content.data as JSONValue);
    } else if (
      KernelMessage.isCommCloseMsg(message) &&
      message.content.comm_id === this.id
    ) {
      this._closed.emit();
      this.dispose();
    }
  }

  private post(
    msgType: 'comm_open' | 'comm_msg' | 'comm_close',
    content: JSONObject
  ): void {
    const { kernel } = this;
    if (kernel.status === 'dead') {
      return;
    }
    const message = KernelMessage.createMessage({
      msgType,
      channel: 'shell',
      session: kernel.clientId,
      username: kernel.username,
      content
    } as unknown as KernelMessage.IOptions<KernelMessage.ICommMsgMsg<'shell'>>);
    kernel.sendShellMessage(message, false, true);
  }

  private _isDisposed = false;
  private readonly _closed = new Signal<this, void>(this);
  private readonly _received = new Signal<this, JSONValue>(this);
}
