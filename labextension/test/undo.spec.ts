import { YNotebook } from '@jupyter/ydoc';
import * as Y from 'yjs';

import { digest } from '../src/cells/texts';
import { threeCells } from './threeCells';

let { model, ask, edit, sources } = threeCells();

beforeEach(() => {
  ({ model, ask, edit, sources } = threeCells());
});

test('one undo takes back all that a turn has done', () => {
  edit('cell-two', 'two', 'zwei');
  ask('insert', { source: 'new', type: 'code', after: 'cell-two' });
  ask('move', { cell: 'cell-one', after: 'cell-three' });
  ask('delete', { cells: [{ cell: 'cell-three', was: digest('three') }] });
  expect(sources()).toEqual(['zwei', 'new', 'one']);
  model.sharedModel.undo();
  expect(sources()).toEqual(['one', 'two', 'three']);
  model.sharedModel.redo();
  expect(sources()).toEqual(['zwei', 'new', 'one']);
});

test('the next turn is another step of undo', () => {
  edit('cell-one', 'one', 'eins');
  edit('cell-two', 'two', 'zwei', { turn: 'turn-2' });
  model.sharedModel.undo();
  expect(sources()).toEqual(['eins', 'two', 'three']);
});

test("a user's own change is never taken back with the agent's", () => {
  model.sharedModel.deleteCell(2);
  edit('cell-one', 'one', 'eins');
  model.sharedModel.insertCell(0, { cell_type: 'code', source: 'mine' });
  edit('cell-two', 'two', 'zwei');
  model.sharedModel.undo();
  expect(sources()).toEqual(['mine', 'eins', 'two']);
  model.sharedModel.undo();
  model.sharedModel.undo();
  expect(sources()).toEqual(['one', 'two']);
});

test('what a person has undone in the middle of a turn stays undone', () => {
  edit('cell-one', 'one', 'eins');
  model.sharedModel.undo();
  edit('cell-two', 'two', 'zwei');
  expect(sources()).toEqual(['one', 'zwei', 'three']);
  model.sharedModel.undo();
  expect(sources()).toEqual(['one', 'two', 'three']);
});

test("another person's changes neither part the step of a turn nor go with it", () => {
  const other = new YNotebook();
  const sync = (from: YNotebook, to: YNotebook): void =>
    Y.applyUpdate(to.ydoc, Y.encodeStateAsUpdate(from.ydoc), 'remote');
  const shared = model.sharedModel as YNotebook;
  sync(shared, other);
  edit('cell-one', 'one', 'eins');
  sync(shared, other);
  other.getCell(0).updateSource(4, 4, '!');
  other.insertCell(3, { cell_type: 'code', source: 'theirs' });
  sync(other, shared);
  expect(() => edit('cell-one', 'eins', 'uno')).toThrow('changed in the meantime');
  edit('cell-two', 'two', 'zwei');
  expect(sources()).toEqual(['eins!', 'zwei', 'three', 'theirs']);
  shared.undo();
  sync(shared, other);
  for (const each of [shared, other]) {
    expect(each.cells.map(cell => cell.getSource())).toEqual([
      'one!',
      'two',
      'three',
      'theirs'
    ]);
  }
});
