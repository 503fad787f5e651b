import { NotebookModel } from '@jupyterlab/notebook';
import { JSONObject } from '@lumino/coreutils';

import { CellEditor } from '../src/cells/editor';
import { digest } from '../src/cells/texts';
import { IUndoManager, UndoSteps } from '../src/cells/undoSteps';

interface IThreeCells {
  model: NotebookModel;
  editor: CellEditor;
  /** Have a turn ask for something. */
  ask: (what: string, more?: JSONObject) => JSONObject;
  edit: (cell: string, was: string, source: string, more?: JSONObject) => JSONObject;
  sources: () => string[];
}

/** A notebook of three code cells, and the editor that changes them for the kernel. */
export function threeCells(): IThreeCells {
  const model = new NotebookModel();
  model.fromJSON({
    cells: ['one', 'two', 'three'].map(source => ({
      id: `cell-${source}`,
      cell_type: 'code',
      source,
      metadata: {},
      outputs: [],
      execution_count: null
    })),
    metadata: {},
    nbformat: 4,
    nbformat_minor: 5
  });
  model.sharedModel.clearUndoHistory();
  const { undoManager } = model.sharedModel as unknown as { undoManager: IUndoManager };
  const editor = new CellEditor(model, new UndoSteps(undoManager), (from, to) =>
    model.sharedModel.moveCell(from, to)
  );
  const ask: IThreeCells['ask'] = (what, more = {}) =>
    editor.answer({ id: '1', do: what, turn: 'turn-1', ...more });
  return {
    model,
    editor,
    ask,
    edit: (cell, was, source, more = {}) =>
      ask('edit', { cell, source, was: digest(was), ...more }),
    sources: () => Array.from(model.cells, cell => cell.sharedModel.getSource())
  };
}
