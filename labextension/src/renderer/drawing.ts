/**
 * A drawn turn, and the notebook around it. Loaded when the first record is shown.
 */

import { INotebookTracker } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { TranslationBundle } from '@jupyterlab/translation';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import { Place } from './place';
import { Prose } from './prose';
import { ITurn } from './turn';
import { TurnView } from './view';

export interface IDrawingOptions {
  rendermime: IRenderMimeRegistry;
  options: IRenderMime.IRendererOptions;
  trans: TranslationBundle;
}

export class Drawing implements IDisposable {
  constructor(
    turn: ITurn,
    bundle: ReadonlyPartialJSONObject,
    { rendermime, options, trans }: IDrawingOptions
  ) {
    this._prose = new Prose(rendermime, options);
    const copied = String(bundle['text/markdown'] ?? bundle['text/plain'] ?? '');
    this._view = new TurnView(turn, this._prose, trans, {
      copied: copied || spokenIn(turn),
      // The kernel leaves the text empty where it has printed the turn.
      isSeen: bundle['text/html'] === undefined && bundle['text/plain'] === ''
    });
  }

  get node(): HTMLElement {
    return this._view.node;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** It stands in the page now. */
  attached(tracker: INotebookTracker | null): void {
    Signal.clearData(this);
    const place = new Place(tracker, this.node);
    place.panel?.sessionContext.kernelChanged.connect(this._settle, this);
    this._place = place;
    this._settle();
  }

  dispose(): void {
    this._isDisposed = true;
    Signal.clearData(this);
    this._prose.dispose();
  }

  private _settle(): void {
    if (this._place !== null) {
      this._view.settle(this._place);
    }
  }

  private readonly _prose: Prose;
  private readonly _view: TurnView;
  private _place: Place | null = null;
  private _isDisposed = false;
}

function spokenIn(turn: ITurn): string {
  const said = turn.parts.map(part => (part.type === 'said' ? part.text : ''));
  return said.filter(Boolean).join('\n\n');
}
