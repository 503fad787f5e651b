/**
 * Cells that ask the agent, put into the notebook in front.
 */

import { Cell, isCodeCellModel } from '@jupyterlab/cells';
import { Notebook, NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { PartialJSONObject } from '@lumino/coreutils';

const FIX = '%hermes fix --cell';

/** What a cell of ours begins with, by the names that the kernel reads in its metadata. */
export type Defaults = PartialJSONObject;

/** Whether the cell has failed when it ran last. */
export function hasFailed(cell: Cell | null): boolean {
  if (cell === null || !isCodeCellModel(cell.model)) {
    return false;
  }
  const { outputs } = cell.model;
  return Array.from({ length: outputs.length }, (_, n) => outputs.get(n).type).includes(
    'error'
  );
}

/** Put a cell for a prompt below the active one. */
export async function askBelow(notebook: Notebook, defaults: Defaults): Promise<void> {
  const cell = insertedBelow(notebook, '%%agent\n');
  if (cell !== null && Object.keys(defaults).length > 0) {
    cell.model.setMetadata('hermes', defaults);
  }
  await cell?.ready;
  notebook.mode = 'edit';
  cell?.editor?.setCursorPosition({ line: 1, column: 0 });
}

/** Have the agent look at the active cell, which failed; what it proposes comes below. */
export async function fixCell({ content, sessionContext }: NotebookPanel): Promise<void> {
  const failed = content.activeCell;
  if (failed === null || !hasFailed(failed)) {
    return;
  }
  const line = `${FIX} ${failed.model.id}`;
  const next = content.widgets[content.activeCellIndex + 1];
  if (next?.model.sharedModel.getSource().trim() === line) {
    content.activeCellIndex += 1;
  } else {
    insertedBelow(content, line);
  }
  await NotebookActions.run(content, sessionContext);
}

function insertedBelow(notebook: Notebook, source: string): Cell | null {
  NotebookActions.insertBelow(notebook);
  notebook.activeCell?.model.sharedModel.setSource(source);
  return notebook.activeCell;
}
