/**
 * The output of a cell that holds the record of a turn.
 *
 * What we cannot draw is left to the rendering that stands beside it: HTML, else plain text.
 */

import { INotebookTracker } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { ITranslator } from '@jupyterlab/translation';
import { Message } from '@lumino/messaging';
import { Panel, Widget } from '@lumino/widgets';

import { DOMAIN } from '../names';
import { ITurn, MIME_TYPE, readTurn } from './turn';

/** What we are given of the page. */
export interface ISurroundings {
  rendermime: IRenderMimeRegistry;
  tracker: INotebookTracker | null;
  translator: ITranslator;
}

/** Best first. */
const OTHERWISE = ['text/html', 'text/markdown', 'text/plain'];

export class RenderedTurn extends Panel implements IRenderMime.IRenderer {
  constructor(surroundings: ISurroundings, options: IRenderMime.IRendererOptions) {
    super();
    this._surroundings = surroundings;
    this._options = options;
    this.addClass('hermes-RenderedTurn');
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    try {
      const turn = readTurn(model.data[MIME_TYPE]);
      await this._draw(turn, model);
    } catch (reason) {
      console.warn('The record of a turn is left to its other rendering:', reason);
      await this._leave(model);
    }
  }

  dispose(): void {
    this._drawing?.dispose();
    super.dispose();
  }

  protected onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._drawing?.attached(this._surroundings.tracker);
  }

  private async _draw(turn: ITurn, model: IRenderMime.IMimeModel): Promise<void> {
    const { Drawing } = await import('./drawing');
    if (this.isDisposed) {
      return;
    }
    const { rendermime, translator } = this._surroundings;
    const drawing = new Drawing(turn, model.data, {
      rendermime,
      options: this._options,
      trans: translator.load(DOMAIN)
    });
    this._clear();
    this._drawing = drawing;
    this.addWidget(new Widget({ node: drawing.node }));
    if (this.isAttached) {
      drawing.attached(this._surroundings.tracker);
    }
  }

  private async _leave(model: IRenderMime.IMimeModel): Promise<void> {
    const { rendermime } = this._surroundings;
    const found = OTHERWISE.find(
      type => typeof model.data[type] === 'string' && model.data[type]
    );
    const mimeType = found ?? 'text/plain';
    const renderer = rendermime.getFactory(mimeType)?.createRenderer({
      ...this._options,
      mimeType
    });
    if (renderer === undefined || this.isDisposed) {
      return;
    }
    this._clear();
    this.addWidget(renderer);
    const trans = this._surroundings.translator.load(DOMAIN);
    const instead = trans.__('The record of a turn, written by a newer version of Hermes.');
    const data = found === undefined ? { [mimeType]: instead } : model.data;
    await renderer.renderModel(rendermime.createModel({ data, trusted: model.trusted }));
  }

  private _clear(): void {
    this._drawing?.dispose();
    this._drawing = null;
    [...this.widgets].forEach(widget => widget.dispose());
  }

  private readonly _surroundings: ISurroundings;
  private readonly _options: IRenderMime.IRendererOptions;
  private _drawing: import('./drawing').Drawing | null = null;
}
