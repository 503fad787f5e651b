/**
 * Reads and changes the cells of one notebook, by their ids, in its shared model: it is the same
 * with windowing, in a background tab, and with collaboration or without.
 */

import { ICellModel } from '@jupyterlab/cells';
import * as nbformat from '@jupyterlab/nbformat';
import { INotebookModel } from '@jupyterlab/notebook';
import { JSONObject } from '@lumino/coreutils';
import { ISignal, Signal } from '@lumino/signaling';

import { IRequest, isObject, Refusal, text } from './protocol';
import { bare, entire, isCode, told } from './telling';
import { digest, splice } from './texts';
import { UndoSteps } from './undoSteps';

const KINDS = ['code', 'markdown', 'raw'];
/** As nbformat 4.5 has it. */
const ID = /^[a-zA-Z0-9_-]{1,64}$/;

/** A cell has another text than before; `null` stands for no cell. */
export interface IChange {
  turn: string;
  cell: string;
  before: string | null;
  after: string | null;
}

/** Moves a cell to the index that it will have. */
export type Move = (from: number, to: number) => void;

export class CellEditor {
  constructor(
    private readonly model: INotebookModel,
    private readonly steps: UndoSteps,
    private readonly move: Move
  ) {}

  /** What was done, cell by cell. */
  get changed(): ISignal<this, IChange> {
    return this._changed;
  }

  /**
   * Do what is asked for; all of it or nothing.
   *
   * @throws Refusal
   */
  answer(request: IRequest): JSONObject {
    const work = this.works.get(request.do);
    if (work === undefined) {
      throw new Refusal('invalid', `this page cannot ${request.do}`);
    }
    return work(request) as JSONObject;
  }

  private readonly works = new Map<string, (request: JSONObject) => object>([
    ['read', request => this.read(request)],
    ['whole', request => this.whole(request)],
    ['insert', request => this.insert(request)],
    ['edit', request => this.edit(request)],
    ['move', request => this.moveCell(request)],
    ['delete', request => this.delete(request)],
    ['show', request => this.show(request)]
  ]);

  private read({ outputs }: JSONObject): object {
    const seen = outputs === false ? bare : told;
    return { cells: this.cells.map(seen) };
  }

  /** Some cells with all that a notebook's file has of them. */
  private whole(request: JSONObject): object {
    const ids = Array.isArray(request.cells) ? request.cells.map(String) : [];
    return { cells: ids.map(id => entire(this.find(id))) };
  }

  private insert(request: JSONObject): object {
    const source = text(request, 'source');
    const kind = text(request, 'type');
    if (!KINDS.includes(kind)) {
      throw new Refusal('invalid', `there are no ${kind} cells`);
    }
    const place = this.place(request);
    const turn = this.writes(request);
    const { id } = this.steps.change(turn, () =>
      this.shared.insertCell(place, { cell_type: kind, source, ...this.former(request) })
    );
    this._changed.emit({ turn, cell: id, before: null, after: source });
    return { cell: told(this.find(id)) };
  }

  /** What a cell that comes back had: its id, unless another has that now, and metadata. */
  private former({ cell, metadata }: JSONObject): object {
    const isFree = typeof cell === 'string' && this.cells.every(each => each.id !== cell);
    return {
      metadata: isObject(metadata) ? metadata : {},
      ...(isFree && ID.test(cell) ? { id: cell } : {})
    };
  }

  private edit(request: JSONObject): object {
    const source = text(request, 'source');
    const cell = this.unchanged(text(request, 'cell'), request.was);
    const before = cell.sharedModel.getSource();
    if (cell.getMetadata('editable') === false) {
      throw new Refusal('refused', 'the user has locked this cell against edits');
    }
    const turn = this.writes(request);
    const { start, end, inserted } = splice(before, source);
    // Within the notebook's transaction it is a step of the notebook's undo, not of the cell's.
    this.steps.change(turn, () =>
      this.shared.transact(() => cell.sharedModel.updateSource(start, end, inserted))
    );
    this._changed.emit({ turn, cell: cell.id, before, after: source });
    return { cell: told(cell) };
  }

  private moveCell(request: JSONObject): object {
    const cell = this.find(text(request, 'cell'));
    const from = this.cells.indexOf(cell);
    const place = this.place(request);
    const to = place > from ? place - 1 : place;
    const turn = this.writes(request);
    if (to !== from) {
      this.steps.change(turn, () => this.move(from, to));
    }
    return {};
  }

  private delete(request: JSONObject): object {
    if (!Array.isArray(request.cells)) {
      throw new Refusal('invalid', 'cells must be a list');
    }
    const wanted = request.cells.map(each => {
      const { cell, was } = Object(each) as JSONObject;
      return this.unchanged(typeof cell === 'string' ? cell : '', was);
    });
    const cells = Array.from(new Set(wanted));
    if (cells.some(cell => cell.getMetadata('deletable') === false)) {
      throw new Refusal(
        'refused',
        'the user has locked one of these cells against deletion'
      );
    }
    if (cells.some(isRunning)) {
      throw new Refusal('refused', 'one of these cells is running');
    }
    const turn = this.writes(request);
    const gone = cells.map(cell => ({
      turn,
      cell: cell.id,
      before: cell.sharedModel.getSource(),
      after: null
    }));
    // From below: the model hears of it only at the end of the transaction.
    const places = cells.map(cell => this.cells.indexOf(cell)).sort((a, b) => b - a);
    this.steps.change(turn, () =>
      this.shared.transact(() => {
        places.forEach(place => this.shared.deleteCell(place));
      })
    );
    gone.forEach(change => this._changed.emit(change));
    return {};
  }

  private show(request: JSONObject): object {
    const cell = this.find(text(request, 'cell'));
    const { outputs, execution_count: count } = request;
    if (!isCode(cell) || !Array.isArray(outputs)) {
      throw new Refusal('invalid', 'outputs can be shown below a code cell only');
    }
    if (isRunning(cell)) {
      throw new Refusal('refused', 'the user has started this cell, and it shows that run');
    }
    cell.outputs.fromJSON(outputs as nbformat.IOutput[]);
    cell.executionCount = typeof count === 'number' ? count : null;
    return {};
  }

  /** The index that a cell put there gets, counted with all cells that are there now. */
  private place(request: JSONObject): number {
    const isBefore = typeof request.before === 'string';
    const beside = this.find(text(request, isBefore ? 'before' : 'after'));
    return this.cells.indexOf(beside) + (isBefore ? 0 : 1);
  }

  private unchanged(id: string, was: unknown): ICellModel {
    const cell = this.find(id);
    if (digest(cell.sharedModel.getSource()) !== was) {
      throw new Refusal(
        'changed',
        `the cell ${id} was changed in the meantime: read it again`
      );
    }
    return cell;
  }

  private find(id: string): ICellModel {
    const found = this.cells.find(cell => cell.id === id);
    if (found === undefined) {
      throw new Refusal('missing', `there is no cell ${id}: read_cells gives the ids`);
    }
    return found;
  }

  /** The turn, if it may write here. */
  private writes(request: JSONObject): string {
    if (this.model.readOnly) {
      throw new Refusal('refused', 'the notebook is open for reading only');
    }
    return text(request, 'turn');
  }

  private get cells(): ICellModel[] {
    return Array.from(this.model.cells);
  }

  private get shared(): INotebookModel['sharedModel'] {
    return this.model.sharedModel;
  }

  private readonly _changed = new Signal<this, IChange>(this);
}

function isRunning(cell: ICellModel): boolean {
  return isCode(cell) && cell.executionState === 'running';
}
