/**
 * A connection of this page to a kernel: listens to what the kernel's agents do.
 */

import { Kernel, KernelMessage } from '@jupyterlab/services';
import { JSONObject, JSONValue } from '@lumino/coreutils';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import { Declined, request, speaks } from './control';
import { EVENT, object } from './protocol';

const GONE: Kernel.Status[] = ['restarting', 'autorestarting', 'dead', 'terminating'];

/** What a kernel says. */
export type Heard =
  /** Of what the kernel was asked at this time, by the page's clock in ms. */
  | { kind: 'pending'; pending: JSONObject; since: number }
  | { kind: 'event'; event: JSONObject }
  | { kind: 'connection' }
  | { kind: 'gone' };

export class Watch implements IDisposable {
  constructor(readonly kernel: Kernel.IKernelConnection) {
    kernel.iopubMessage.connect(this.hear, this);
    kernel.statusChanged.connect(this.notice, this);
    kernel.connectionStatusChanged.connect(this.reconnect, this);
    if (this.isConnected) {
      void this.look();
    }
  }

  /** Has it said anything since it began? */
  hasSpoken = false;

  get heard(): ISignal<this, Heard> {
    return this._heard;
  }

  /** Can an answer get through now? */
  get isConnected(): boolean {
    return !this.isDisposed && this.kernel.connectionStatus === 'connected';
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Ask what waits, if the kernel has loaded the extension; one that hangs is waited for. */
  async look(): Promise<void> {
    if (!(await speaks(this.kernel))) {
      return;
    }
    const since = performance.now();
    try {
      const pending = await request(this.kernel, { do: 'pending' }, null);
      this.hasSpoken = true;
      this._heard.emit({ kind: 'pending', pending, since });
    } catch (problem) {
      if (!(problem instanceof Declined)) {
        throw problem;
      }
    }
  }

  dispose(): void {
    if (this.isDisposed) {
      return;
    }
    this._isDisposed = true;
    this.kernel.iopubMessage.disconnect(this.hear, this);
    this.kernel.statusChanged.disconnect(this.notice, this);
    this.kernel.connectionStatusChanged.disconnect(this.reconnect, this);
    Signal.clearData(this);
  }

  private hear(_: unknown, message: KernelMessage.IIOPubMessage): void {
    if ((message.header.msg_type as string) === EVENT) {
      const event = object(message.content as unknown as JSONValue);
      this.hasSpoken = event.event !== 'unloaded';
      this._heard.emit({ kind: 'event', event });
      if (event.event === 'ready') {
        void this.look(); // so the kernel knows that somebody can answer here
      }
    }
  }

  private notice(_: unknown, status: Kernel.Status): void {
    if (GONE.includes(status)) {
      this.hasSpoken = false;
      this._heard.emit({ kind: 'gone' });
    }
  }

  private reconnect(_: unknown, status: Kernel.ConnectionStatus): void {
    this._heard.emit({ kind: 'connection' });
    if (status === 'connected') {
      void this.look();
    }
  }

  private _isDisposed = false;
  private readonly _heard = new Signal<this, Heard>(this);
}
