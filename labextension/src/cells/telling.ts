/**
 * Cells as the kernel is told of them.
 */

import { ICellModel, ICodeCellModel } from '@jupyterlab/cells';
import * as nbformat from '@jupyterlab/nbformat';

import { inShort } from './outputs';
import { ITold } from './protocol';

/** A cell without its outputs. */
export function bare(cell: ICellModel): ITold {
  return {
    id: cell.id,
    type: cell.type,
    source: cell.sharedModel.getSource(),
    execution_count: isCode(cell) ? cell.executionCount : null
  };
}

/** A cell as the model reads it. */
export function told(cell: ICellModel): ITold {
  return { ...bare(cell), outputs: inShort(outputsOf(cell)) };
}

/** A cell with all that a notebook's file has of it. */
export function entire(cell: ICellModel): ITold {
  return {
    ...bare(cell),
    outputs: outputsOf(cell),
    metadata: cell.sharedModel.getMetadata()
  };
}

function outputsOf(cell: ICellModel): nbformat.IOutput[] {
  return isCode(cell) ? cell.outputs.toJSON() : [];
}

export function isCode(cell: ICellModel): cell is ICodeCellModel {
  return cell.type === 'code';
}
