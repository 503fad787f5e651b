/**
 * What our extension of the server tells of all its kernels, also of those that this page has no
 * connection to; and answers by way of it.
 */

import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import { JSONObject, JSONValue } from '@lumino/coreutils';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import { Declined } from './control';
import { object, text } from './protocol';

const API = 'hermes/api';
/** In ms; doubled after each failure. */
const SHORTEST_PAUSE = 1_000;
const LONGEST_PAUSE = 60_000;
/** Where the server has been there: somebody waits for it to come back. */
const LONGEST_PAUSE_WHEN_LOST = 8_000;

/** `missing`: it was never there, so the server has no such extension. */
export type LineState = 'opening' | 'open' | 'lost' | 'missing';

/** What the server tells; of `pending`, when it was asked, by the page's clock in ms. */
export interface ITold {
  told: JSONObject;
  since: number;
}

export class ServerLine implements IDisposable {
  constructor(private readonly settings: ServerConnection.ISettings) {
    this.connect();
  }

  /** What the server tells, message by message. */
  get told(): ISignal<this, ITold> {
    return this._told;
  }

  /** The line is open now, or not any more. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get state(): LineState {
    return this._state;
  }

  get isOpen(): boolean {
    return this.state === 'open';
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    window.clearTimeout(this.timer);
    this.socket?.close();
    Signal.clearData(this);
  }

  /**
   * Ask a kernel.
   *
   * @throws Declined
   */
  async ask(kernel: string, { do: what, ...content }: JSONObject): Promise<JSONObject> {
    const path = `kernels/${encodeURIComponent(kernel)}/${String(what)}`;
    return this.fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(content)
    });
  }

  /** What waits in all kernels, told as it is when the line opens. */
  async look(): Promise<void> {
    const since = performance.now();
    const { kernels } = await this.fetch('pending', {});
    this._told.emit({ told: { event: 'pending', kernels: kernels ?? [] }, since });
  }

  private async fetch(path: string, init: RequestInit): Promise<JSONObject> {
    const { settings } = this;
    let response: Response;
    try {
      const url = URLExt.join(settings.baseUrl, API, path);
      response = await ServerConnection.makeRequest(url, init, settings);
    } catch {
      throw new Declined('silent', '');
    }
    const answer = object((await response.json().catch(() => null)) as JSONValue);
    if (!response.ok) {
      const [, code, message] = /^(\w+): ([^]*)$/.exec(text(answer.message)) ?? [];
      throw new Declined(code ?? 'failed', message ?? text(answer.message));
    }
    return answer;
  }

  private connect(): void {
    const { wsUrl, token, appendToken, WebSocket: Socket } = this.settings;
    const query = appendToken && token ? `?token=${encodeURIComponent(token)}` : '';
    const since = performance.now();
    const socket = new Socket(URLExt.join(wsUrl, API, 'events') + query);
    this.socket = socket;
    socket.onopen = () => {
      this.pause = SHORTEST_PAUSE;
      this._state = 'open';
      this._changed.emit();
    };
    socket.onmessage = ({ data }) => {
      this._told.emit({ told: object(JSON.parse(String(data)) as JSONValue), since });
    };
    // Without the extension of the server it never opens: it is tried ever more rarely.
    socket.onclose = () => {
      if (!this.isDisposed) {
        this._state = this.isOpen || this.state === 'lost' ? 'lost' : 'missing';
        this._changed.emit();
        this.timer = window.setTimeout(() => this.connect(), this.pause);
        const longest = this.state === 'lost' ? LONGEST_PAUSE_WHEN_LOST : LONGEST_PAUSE;
        this.pause = Math.min(2 * this.pause, longest);
      }
    };
  }

  private socket: WebSocket | undefined;
  private _state: LineState = 'opening';
  private pause = SHORTEST_PAUSE;
  private timer = 0;
  private _isDisposed = false;
  private readonly _told = new Signal<this, ITold>(this);
  private readonly _changed = new Signal<this, void>(this);
}
