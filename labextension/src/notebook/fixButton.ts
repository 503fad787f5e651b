/**
 * A button under the error of a cell that failed. It is no output: it is neither saved with the
 * notebook nor exported.
 */

import { Cell, CodeCell } from '@jupyterlab/cells';
import { Notebook } from '@jupyterlab/notebook';
import { Panel, Widget } from '@lumino/widgets';

import { fixIcon } from '../icons';
import { canBeFixed, errorOf } from './cells';

export interface IWords {
  label: string;
  caption: string;
}

export class FixButton extends Widget {
  constructor({ label, caption }: IWords, fix: () => void) {
    super();
    this.addClass('hermes-Fix');
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'hermes-Fix-button';
    button.title = caption;
    button.append(fixIcon.element({ tag: 'span', stylesheet: 'menuItem' }), label);
    button.addEventListener('click', fix);
    this.node.append(button);
  }
}

/** Has the buttons of a notebook stand where they belong. */
export class FixButtons {
  constructor(
    private readonly notebook: Notebook,
    private readonly words: IWords,
    private readonly fix: (cell: CodeCell) => void
  ) {
    notebook.model?.cells.changed.connect(this.follow, this);
    this.follow();
  }

  /** Whether there are any. */
  set isOffered(is: boolean) {
    this._isOffered = is;
    this.notebook.widgets.forEach(cell => this.place(cell));
  }

  private follow(): void {
    for (const cell of this.notebook.widgets) {
      if (cell instanceof CodeCell && !this.known.has(cell)) {
        this.known.add(cell);
        cell.outputArea.outputLengthChanged.connect(() => this.place(cell));
        this.place(cell);
      }
    }
  }

  /** In the same frame in which the error appears, so nothing jumps. */
  private place(cell: Cell): void {
    if (!(cell instanceof CodeCell) || cell.isDisposed) {
      return;
    }
    const isOffered = this._isOffered && canBeFixed(cell);
    const output = isOffered ? cell.outputArea.widgets[errorOf(cell)] : undefined;
    const button = this.buttons.get(cell);
    if (button !== undefined && (button.isDisposed || button.parent !== output)) {
      button.parent?.removeClass('hermes-mod-failed');
      button.dispose();
      this.buttons.delete(cell);
    }
    if (output instanceof Panel && !this.buttons.has(cell)) {
      const made = new FixButton(this.words, () => this.fix(cell));
      output.addClass('hermes-mod-failed');
      output.addWidget(made);
      this.buttons.set(cell, made);
    }
  }

  private readonly known = new WeakSet<Cell>();
  private readonly buttons = new WeakMap<Cell, FixButton>();
  private _isOffered = true;
}
