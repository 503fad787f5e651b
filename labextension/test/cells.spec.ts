import { ICodeCellModel } from '@jupyterlab/cells';
import { JSONObject } from '@lumino/coreutils';

import { IChange } from '../src/cells/editor';
import { Refusal } from '../src/cells/protocol';
import { digest } from '../src/cells/texts';
import { threeCells } from './threeCells';

let { model, editor, ask, edit, sources } = threeCells();

beforeEach(() => {
  ({ model, editor, ask, edit, sources } = threeCells());
});

function refusal(work: () => unknown): Refusal {
  try {
    work();
  } catch (problem) {
    if (problem instanceof Refusal) {
      return problem;
    }
    throw problem;
  }
  throw new Error('nothing was refused');
}

test('cells are read in order, with their ids', () => {
  expect(ask('read')).toEqual({
    cells: ['one', 'two', 'three'].map(source => ({
      id: `cell-${source}`,
      type: 'code',
      source,
      execution_count: null,
      outputs: []
    }))
  });
});

test('a cell is inserted behind and before others', () => {
  const place = { source: 'new', type: 'markdown' };
  ask('insert', { ...place, after: 'cell-one' });
  ask('insert', { ...place, before: 'cell-one' });
  expect(sources()).toEqual(['new', 'one', 'new', 'two', 'three']);
});

test('an edit gives back the cell as it is then', () => {
  const { cell } = edit('cell-two', 'two', 'zwei 🎲');
  expect(cell).toMatchObject({ id: 'cell-two', source: 'zwei 🎲' });
  expect(sources()).toEqual(['one', 'zwei 🎲', 'three']);
});

test('a cell that was changed in the meantime is left as it is', () => {
  model.cells.get(1).sharedModel.setSource('my own');
  expect(refusal(() => edit('cell-two', 'two', 'zwei')).reason).toBe('changed');
  expect(sources()).toEqual(['one', 'my own', 'three']);
});

test('all of the cells are deleted, or none', () => {
  const cells = ['one', 'two'].map(name => ({ cell: `cell-${name}`, was: digest(name) }));
  const wrong = [cells[0], { ...cells[1], was: digest('else') }];
  expect(refusal(() => ask('delete', { cells: wrong })).reason).toBe('changed');
  expect(sources()).toEqual(['one', 'two', 'three']);
  ask('delete', { cells: [...cells, cells[0]] });
  expect(sources()).toEqual(['three']);
});

test.each([
  ['cell-one', { after: 'cell-three' }, ['two', 'three', 'one']],
  ['cell-three', { before: 'cell-one' }, ['three', 'one', 'two']],
  ['cell-one', { before: 'cell-three' }, ['two', 'one', 'three']],
  ['cell-two', { after: 'cell-one' }, ['one', 'two', 'three']]
])('%s is moved %j', (cell, place, order) => {
  ask('move', { cell, ...place });
  expect(sources()).toEqual(order);
});

test('outputs are shown without a step of undo', () => {
  const outputs = [{ output_type: 'stream', name: 'stdout', text: 'hello\n' }];
  ask('show', { cell: 'cell-one', outputs, execution_count: 7 });
  const { cells } = ask('read') as { cells: JSONObject[] };
  expect(cells[0]).toMatchObject({ execution_count: 7, outputs });
  expect(model.sharedModel.canUndo()).toBe(false);
});

test('outputs do not replace those of a cell that somebody has started', () => {
  const cell = model.cells.get(0) as ICodeCellModel;
  cell.executionState = 'running';
  expect(
    refusal(() => ask('show', { cell: 'cell-one', outputs: [], execution_count: 7 })).reason
  ).toBe('refused');
  expect([cell.executionState, cell.executionCount]).toEqual(['running', null]);
});

test('images are told by their beginning, which says their size', () => {
  const data = { 'image/png': 'A'.repeat(1_000_000), 'text/plain': 'x'.repeat(100_000) };
  const outputs = [{ output_type: 'display_data', data, metadata: {} }];
  ask('show', { cell: 'cell-one', outputs, execution_count: null });
  expect(JSON.stringify(ask('read')).length).toBeLessThan(25_000);
});

test.each([
  ['missing', { do: 'edit', cell: 'cell-none', source: '', was: '' }],
  ['missing', { do: 'insert', source: '', type: 'code', after: 'cell-none' }],
  ['invalid', { do: 'insert', source: '', type: 'video', after: 'cell-one' }],
  ['invalid', { do: 'insert', source: '', type: 'code' }],
  ['invalid', { do: 'edit', cell: 'cell-one', source: 5 }],
  ['invalid', { do: 'delete', cells: 'cell-one' }],
  ['missing', { do: 'delete', cells: [null] }],
  ['invalid', { do: 'show', cell: 'cell-one', outputs: 'text' }],
  ['invalid', { do: 'format' }],
  ['invalid', { do: 'constructor' }]
])('nonsense is %s: %j', (reason, request) => {
  expect(refusal(() => editor.answer({ id: '1', turn: 't', ...request })).reason).toBe(
    reason
  );
  expect(sources()).toEqual(['one', 'two', 'three']);
});

test.each([
  ['editable', () => edit('cell-one', 'one', 'eins')],
  ['deletable', () => ask('delete', { cells: [{ cell: 'cell-one', was: digest('one') }] })]
])('a cell that is not %s stays', (name, work) => {
  model.cells.get(0).setMetadata(name, false);
  expect(refusal(work).reason).toBe('refused');
});

test('a notebook that is open for reading is not changed', () => {
  model.readOnly = true;
  expect(refusal(() => edit('cell-one', 'one', 'eins')).reason).toBe('refused');
});

test('what was changed is told with both texts', () => {
  const changes: IChange[] = [];
  editor.changed.connect((_, change) => changes.push(change));
  edit('cell-one', 'one', 'eins');
  expect(changes).toEqual([
    { turn: 'turn-1', cell: 'cell-one', before: 'one', after: 'eins' }
  ]);
});

test('a cell that comes back is the one that it was, with all that it had', () => {
  const png = { 'image/png': 'iVBORw0KGgo='.repeat(40) };
  const outputs = [{ output_type: 'display_data', data: png, metadata: {} }];
  ask('show', { cell: 'cell-two', outputs, execution_count: 7 });
  model.cells.get(1).setMetadata('tags', ['mine']);
  const { cells } = ask('whole', { cells: ['cell-two'] });
  expect(cells).toMatchObject([
    { outputs, execution_count: 7, metadata: { tags: ['mine'] } }
  ]);
  ask('delete', { cells: [{ cell: 'cell-two', was: digest('two') }] });
  const back = {
    source: 'two',
    type: 'code',
    cell: 'cell-two',
    metadata: { tags: ['mine'] }
  };
  const { cell } = ask('insert', { ...back, after: 'cell-one' });
  expect(cell).toMatchObject({ id: 'cell-two' });
  expect(model.cells.get(1).getMetadata('tags')).toEqual(['mine']);
});

test('an id that another cell has, or that is none, is not given away', () => {
  for (const wanted of ['cell-one', 'a b', '']) {
    const { cell } = ask('insert', {
      source: '',
      type: 'code',
      after: 'cell-one',
      cell: wanted
    });
    expect((cell as JSONObject).id).not.toBe(wanted);
  }
});

test('outputs are left out if nobody looks at them', () => {
  const { cells } = ask('read', { outputs: false });
  expect((cells as JSONObject[]).every(cell => !('outputs' in cell))).toBe(true);
});
