/**
 * All ways to kernels: this page's own connections, and the server for the others.
 *
 * An answer takes the page's own connection if there is one. What the page hears itself is not
 * taken from the server, too, which may be a little behind.
 */

import { Kernel } from '@jupyterlab/services';
import { JSONObject } from '@lumino/coreutils';
import { ISignal, Signal } from '@lumino/signaling';

import { Declined, request } from './control';
import { listOf, object, text } from './protocol';
import { ServerLine } from './server';
import { Heard, Watch } from './watch';

/** What one kernel said. */
export interface ISaid {
  kernel: string;
  heard: Heard;
}

export class Kernels {
  constructor(private readonly server: ServerLine) {
    server.told.connect((_, told) => this.tell(told));
    server.changed.connect(() =>
      this.serverKernels.forEach(kernel => this.connection(kernel))
    );
  }

  get said(): ISignal<this, ISaid> {
    return this._said;
  }

  /** Listen to this connection of the page, for as long as it is there. */
  use(kernel: Kernel.IKernelConnection): void {
    const { id } = kernel;
    this.watches.get(id)?.dispose();
    const watch = new Watch(kernel);
    this.watches.set(id, watch);
    watch.heard.connect((_, heard) => this._said.emit({ kernel: id, heard }));
    kernel.disposed.connect(() => {
      if (this.watches.get(id) === watch) {
        this.watches.delete(id);
        watch.dispose();
        this.connection(id);
      }
    });
  }

  /** Can this kernel be asked now? */
  reaches(kernel: string): boolean {
    return this.watches.get(kernel)?.isConnected ?? this.server.isOpen;
  }

  /** The notebook that a kernel runs for, as the server knows it. */
  notebook(kernel: string): string {
    return this.notebooks.get(kernel) ?? '';
  }

  /**
   * Ask a kernel.
   *
   * @throws Declined
   */
  async ask(kernel: string, content: JSONObject): Promise<JSONObject> {
    const watch = this.watches.get(kernel);
    return watch?.isConnected
      ? request(watch.kernel, content)
      : this.server.ask(kernel, content);
  }

  /** See what waits in a kernel now. */
  async look(kernel: string): Promise<void> {
    const watch = this.watches.get(kernel);
    await quietly(watch?.isConnected ? watch.look() : this.server.look());
  }

  private tell(told: JSONObject): void {
    const kernel = text(told.kernel);
    switch (told.event) {
      case 'pending':
        listOf(told.kernels ?? [], object).forEach(each => this.tellPending(each));
        break;
      case 'came':
        void quietly(this.server.look());
        break;
      case 'gone':
      case 'restarted':
        this._said.emit({ kernel, heard: { kind: 'gone' } });
        break;
      default:
        this.hear(kernel, { kind: 'event', event: told });
    }
  }

  private tellPending(pending: JSONObject): void {
    const kernel = text(pending.kernel);
    this.notebooks.set(kernel, text(pending.notebook));
    if (pending.state === 'answers') {
      this.hear(kernel, { kind: 'pending', pending });
    } else if (pending.state === 'unreachable') {
      void this.watches.get(kernel)?.look();
    }
  }

  private hear(kernel: string, heard: Heard): void {
    this.serverKernels.add(kernel);
    const watch = this.watches.get(kernel);
    if (kernel !== '' && !(watch?.isConnected && watch.hasSpoken)) {
      this._said.emit({ kernel, heard });
    }
  }

  private connection(kernel: string): void {
    this._said.emit({ kernel, heard: { kind: 'connection' } });
  }

  private readonly watches = new Map<string, Watch>();
  private readonly notebooks = new Map<string, string>();
  private readonly serverKernels = new Set<string>();
  private readonly _said = new Signal<this, ISaid>(this);
}

/** A kernel or a server that does not answer now will be heard later. */
async function quietly(looking: Promise<void>): Promise<void> {
  try {
    await looking;
  } catch (problem) {
    if (!(problem instanceof Declined)) {
      throw problem;
    }
  }
}
