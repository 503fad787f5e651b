/**
 * Cells that ask the agent, put into a notebook.
 */

import { Cell, isCodeCellModel } from '@jupyterlab/cells';
import { Notebook, NotebookActions, NotebookPanel } from '@jupyterlab/notebook';

import { IRuns } from './kernel';

const FIX = '%hermes fix --cell';
/** Cells that ask the agent themselves. What went wrong there it cannot see. */
const OURS = /^\s*(%%agent|%hermes)(?!\S)/;

/** The place of the last error among the outputs of a cell; -1 if it shows none. */
export function errorOf(cell: Cell): number {
  if (!isCodeCellModel(cell.model)) {
    return -1;
  }
  const { outputs } = cell.model;
  for (let place = outputs.length - 1; place >= 0; place--) {
    if (outputs.get(place).type === 'error') {
      return place;
    }
  }
  return -1;
}

/** Whether the cell failed when it ran last, and is code of the person. */
export function canBeFixed(cell: Cell | null): cell is Cell {
  return (
    cell !== null && errorOf(cell) >= 0 && !OURS.test(cell.model.sharedModel.getSource())
  );
}

/** Put a cell for a prompt below the active one. */
export async function askBelow(notebook: Notebook): Promise<void> {
  const cell = insertedBelow(notebook, '%%agent\n');
  await cell?.ready;
  notebook.mode = 'edit';
  cell?.editor?.setCursorPosition({ line: 1, column: 0 });
}

/** Have the agent look at the active cell, which failed; what it proposes comes below. */
export async function fixCell({ content }: NotebookPanel, runs: IRuns): Promise<void> {
  const failed = content.activeCell;
  if (!canBeFixed(failed) || !(await runs.ready())) {
    return;
  }
  content.activeCellIndex = content.widgets.indexOf(failed);
  const line = `${FIX} ${failed.model.id}`;
  const next = content.widgets[content.activeCellIndex + 1];
  if (next?.model.sharedModel.getSource().trim() === line) {
    content.activeCellIndex += 1;
  } else {
    insertedBelow(content, line);
  }
  await runs.run();
}

function insertedBelow(notebook: Notebook, source: string): Cell | null {
  NotebookActions.insertBelow(notebook);
  notebook.activeCell?.model.sharedModel.setSource(source);
  return notebook.activeCell;
}
