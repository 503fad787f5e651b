/**
 * Which cells the agent has changed and nobody has looked at yet, and what they were before.
 */

import { INotebookModel } from '@jupyterlab/notebook';
import { ISignal, Signal } from '@lumino/signaling';

import { IChange } from './editor';
import { splice } from './texts';
import { UndoSteps } from './undoSteps';

/** A cell that was changed; it may be changed by several turns. */
export interface IChanged {
  /** Null if the agent has put the cell there. */
  before: string | null;
  after: string;
}

export class Changes {
  constructor(
    private readonly model: INotebookModel,
    private readonly steps: UndoSteps
  ) {
    model.contentChanged.connect(this.compare, this);
  }

  /** Cells were added, or looked at. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get cells(): ReadonlyMap<string, IChanged> {
    return this.byId;
  }

  note({ cell, before, after }: IChange): void {
    if (after === null) {
      this.byId.delete(cell);
    } else {
      const earlier = this.byId.get(cell);
      // What somebody else has written in between is not the agent's to put back.
      const joins = earlier?.after === before;
      this.byId.set(cell, { before: earlier && joins ? earlier.before : before, after });
    }
    this._changed.emit();
  }

  /** Take up what was noted before the page was reloaded, as far as it is still so. */
  restore(entries: Iterable<[string, IChanged]>): void {
    for (const [cell, entry] of entries) {
      this.byId.set(cell, entry);
    }
    this.compare();
    this._changed.emit();
  }

  /** Somebody has looked, and it is well. */
  keep(cell: string): void {
    if (this.byId.delete(cell)) {
      this._changed.emit();
    }
  }

  /** Is the cell still as the agent has left it? If not, putting it back would lose work. */
  isAsLeft(cell: string): boolean {
    return this.sourceOf(cell) === this.byId.get(cell)?.after;
  }

  /** Have the cell as it was; a step of undo of its own. */
  putBack(cell: string): void {
    const entry = this.byId.get(cell);
    const index = this.indexOf(cell);
    if (entry === undefined || index < 0 || !this.isAsLeft(cell)) {
      return;
    }
    const { sharedModel: shared } = this.model;
    const { before, after } = entry;
    this.steps.change(`put back ${cell}`, () => {
      if (before === null) {
        shared.deleteCell(index);
      } else {
        const { start, end, inserted } = splice(after, before);
        shared.transact(() => shared.getCell(index).updateSource(start, end, inserted));
      }
    });
    this.keep(cell);
  }

  /** Undo has brought cells back to what they were, or taken them away. */
  private compare(): void {
    for (const [cell, { before }] of this.byId) {
      const source = this.sourceOf(cell);
      if (source === null || source === before) {
        this.keep(cell);
      }
    }
  }

  private sourceOf(cell: string): string | null {
    const index = this.byId.has(cell) ? this.indexOf(cell) : -1;
    return index < 0 ? null : this.model.sharedModel.getCell(index).getSource();
  }

  private indexOf(cell: string): number {
    return this.model.sharedModel.cells.findIndex(({ id }) => id === cell);
  }

  private readonly byId = new Map<string, IChanged>();
  private readonly _changed = new Signal<this, void>(this);
}
