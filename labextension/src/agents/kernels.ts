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
import { ITold, LineState, ServerLine } from './server';
import { Heard, Watch } from './watch';

/** What one kernel said. */
export interface ISaid {
  kernel: string;
  heard: Heard;
}

export class Kernels {
  constructor(private readonly server: ServerLine) {
    server.told.connect((_, told) => this.tell(told));
    server.changed.connect(() => this.connection(''));
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

  /** Is the server there, which tells of the kernels that this page has no connection to? */
  get line(): LineState {
    return this.server.state;
  }

  /** Can this kernel be asked now? */
  reaches(kernel: string): boolean {
    return this.watches.get(kernel)?.isConnected === true || this.server.isOpen;
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

  private tell({ told, since }: ITold): void {
    const kernel = text(told.kernel);
    switch (told.event) {
      case 'pending':
        this.tellAll(listOf(told.kernels ?? [], object), since);
        break;
      case 'came':
        void quietly(this.server.look());
        break;
      case 'gone':
      case 'restarted':
        this.end(kernel);
        break;
      default:
        this.hear(kernel, { kind: 'event', event: told });
    }
  }

  private tellAll(kernels: JSONObject[], since: number): void {
    kernels.forEach(each => this.tellPending(each, since));
    // The server may be another than the one that told of them.
    const there = new Set(kernels.map(({ kernel }) => text(kernel)));
    new Set([...this.serverKernels, ...this.watches.keys()]).forEach(kernel => {
      if (!there.has(kernel) && !this.hears(kernel)) {
        this.end(kernel);
      }
    });
  }

  private end(kernel: string): void {
    this.serverKernels.delete(kernel);
    this._said.emit({ kernel, heard: { kind: 'gone' } });
  }

  private tellPending(pending: JSONObject, since: number): void {
    const kernel = text(pending.kernel);
    this.notebooks.set(kernel, text(pending.notebook));
    if (pending.state === 'answers') {
      this.hear(kernel, { kind: 'pending', pending, since });
    } else if (pending.state === 'unloaded' && !this.hears(kernel)) {
      this.end(kernel); // it was started anew since
    } else if (pending.state === 'unreachable') {
      void this.watches.get(kernel)?.look();
    }
  }

  private hear(kernel: string, heard: Heard): void {
    this.serverKernels.add(kernel);
    if (kernel !== '' && !this.hears(kernel)) {
      this._said.emit({ kernel, heard });
    }
  }

  /** Does the page hear this kernel itself? */
  private hears(kernel: string): boolean {
    const watch = this.watches.get(kernel);
    return watch !== undefined && watch.isConnected && watch.hasSpoken;
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
