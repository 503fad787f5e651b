import { NotebookModel, NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';

import { Changes } from '../src/cells/changes';
import { remember, remembered } from '../src/cells/keeping';
import { lineDiff } from '../src/cells/lineDiff';
import { IUndoManager, UndoSteps } from '../src/cells/undoSteps';

let model: NotebookModel;
let changes: Changes;
let steps: UndoSteps;

beforeEach(() => {
  model = new NotebookModel();
  model.sharedModel.insertCell(0, { id: 'a', cell_type: 'code', source: 'one\ntwo' });
  model.sharedModel.clearUndoHistory();
  const { undoManager } = model.sharedModel as unknown as { undoManager: IUndoManager };
  steps = new UndoSteps(undoManager);
  changes = new Changes(model, steps);
  sessionStorage.clear();
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

test('what was changed before the page was reloaded is there to be put back', () => {
  const context = { path: 'a.ipynb', pathChanged: new Signal<object, string>({}) };
  const panel = { context, disposed: new Signal<object, void>({}) };
  remember(panel as unknown as NotebookPanel, changes);
  edit('two');
  model.sharedModel.insertCell(1, { id: 'b', cell_type: 'code', source: 'new' });
  changes.note({ turn: 't', cell: 'b', before: null, after: 'new' });
  const again = new Changes(model, steps);
  model.sharedModel.deleteCell(1);
  again.restore(remembered('a.ipynb'));
  expect(Array.from(again.cells)).toEqual([['a', { before: 'one\ntwo', after: 'two' }]]);
  again.putBack('a');
  expect(source()).toBe('one\ntwo');
  expect(remembered('a.ipynb')).toEqual([]);
});

test('a notebook that is renamed takes its changes along', () => {
  const context = { path: 'a.ipynb', pathChanged: new Signal<object, string>({}) };
  const panel = { context, disposed: new Signal<object, void>({}) };
  remember(panel as unknown as NotebookPanel, changes);
  edit('two');
  context.path = 'b.ipynb';
  context.pathChanged.emit('b.ipynb');
  expect([remembered('a.ipynb').length, remembered('b.ipynb').length]).toEqual([0, 1]);
});

test.each(['{', '5', '[5, ["a"], ["a", null], ["a", {"before": 5, "after": ""}]]'])(
  'what another program has left there is not taken up: %s',
  noted => {
    sessionStorage.setItem('hermes-jupyter:changes:c.ipynb', noted);
    jest.spyOn(console, 'warn').mockImplementation();
    expect(remembered('c.ipynb')).toEqual([]);
  }
);

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
