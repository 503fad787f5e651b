import { NotebookModel } from '@jupyterlab/notebook';

import { CellEditor } from '../src/cells/editor';
import { IUndoManager, UndoSteps } from '../src/cells/undoSteps';

/** A notebook of three code cells, and the editor that changes them for the kernel. */
export function threeCells(): { model: NotebookModel; editor: CellEditor } {
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
  return { model, editor };
}
