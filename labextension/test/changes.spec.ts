import { NotebookModel } from '@jupyterlab/notebook';

import { Changes } from '../src/cells/changes';
import { lineDiff } from '../src/cells/lineDiff';
import { IUndoManager, UndoSteps } from '../src/cells/undoSteps';

let model: NotebookModel;
let changes: Changes;

beforeEach(() => {
  model = new NotebookModel();
  model.sharedModel.insertCell(0, { id: 'a', cell_type: 'code', source: 'one\ntwo' });
  model.sharedModel.clearUndoHistory();
  const { undoManager } = model.sharedModel as unknown as { undoManager: IUndoManager };
  changes = new Changes(model, new UndoSteps(undoManager));
});

function edit(after: string): void {
  const cell = model.sharedModel.getCell(0);
  const before = cell.getSource();
  model.sharedModel.transact(() => cell.setSource(after));
  changes.note({ turn: 't', cell: 'a', before, after });
}

const source = (): string => model.sharedModel.getCell(0).getSource();

test('a cell is put back as it was before all of the edits', () => {
  edit('two');
  edit('three');
  changes.putBack('a');
  expect(source()).toBe('one\ntwo');
  expect(changes.cells.size).toBe(0);
});

test("what a person wrote since is not put back with the agent's text", () => {
  edit('two');
  model.sharedModel.getCell(0).setSource('mine');
  changes.putBack('a');
  expect(source()).toBe('mine');
  edit('three');
  changes.putBack('a');
  expect(source()).toBe('mine');
});

test('a cell that was added is taken away', () => {
  model.sharedModel.insertCell(1, { id: 'b', cell_type: 'code', source: 'new' });
  changes.note({ turn: 't', cell: 'b', before: null, after: 'new' });
  changes.putBack('b');
  expect(model.cells.length).toBe(1);
});

test('undo leaves nothing to look at', () => {
  edit('two');
  model.sharedModel.undo();
  expect(changes.cells.size).toBe(0);
});

test.each([
  ['a\nb\nc', 'a\nB\nc', ' a\n-b\n+B\n c'],
  ['a', 'a\nb', ' a\n+b'],
  ['1\n2\n3\n4\nx', '1\n2\n3\n4\ny', ' 3\n 4\n-x\n+y'],
  ['a\nb\nc\nd', 'x\nb\ny\nd', '-a\n+x\n b\n-c\n+y\n d']
])('the difference of %j and %j', (before, after, diff) => {
  expect(lineDiff(before, after)).toBe(diff);
});
