import { NotebookModel, NotebookPanel } from '@jupyterlab/notebook';
import { nullTranslator } from '@jupyterlab/translation';
import { JSONObject } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';

import { tellEndings } from '../src/notebook/endings';
import { settled } from './fakes';

const WIDGET = 'application/vnd.jupyter.widget-view+json';

function shown(widget: string, metadata: JSONObject): JSONObject {
  return {
    output_type: 'display_data',
    data: { [WIDGET]: { model_id: widget } },
    metadata
  };
}

/** A notebook with a turn and another widget below its cells; its kernel keeps these comms. */
function opened(kept: string[] | null) {
  const model = new NotebookModel();
  const cell = (id: string, ...outputs: JSONObject[]) => ({
    id,
    cell_type: 'code',
    source: '',
    metadata: {},
    outputs,
    execution_count: null
  });
  model.fromJSON({
    cells: [
      cell('turn', shown('live', { hermes: { live: true } })),
      cell('other', shown('slider', {}))
    ],
    metadata: {},
    nbformat: 4,
    nbformat_minor: 5
  } as never);
  const requestCommInfo = jest.fn(async () => ({
    content: {
      status: 'ok',
      comms: Object.fromEntries((kept ?? []).map(id => [id, {}]))
    }
  }));
  const sessionContext = {
    ready: Promise.resolve(),
    session: kept === null ? null : { kernel: { requestCommInfo } },
    statusChanged: new Signal<object, string>({}),
    kernelChanged: new Signal<object, { oldValue: object | null }>({})
  };
  const panel = {
    content: { model },
    context: { ready: Promise.resolve() },
    sessionContext,
    isDisposed: false
  };
  tellEndings(panel as unknown as NotebookPanel, nullTranslator.load(''));
  const below = (place: number): string => JSON.stringify(model.cells.get(place).toJSON());
  return { below, model, requestCommInfo, ...sessionContext };
}

test.each([
  ['no kernel', null, true],
  ['a kernel that was started since', [], true],
  ['the kernel of the turn', ['live'], false]
])(
  'a notebook that is opened with %s tells of the turn as it is',
  async (_, kept, ended) => {
    const { below } = opened(kept);
    await settled();
    expect(below(0).includes('%hermes continue')).toBe(ended);
    expect(below(1)).toContain('slider');
  }
);

test.each(['restarting', 'autorestarting', 'dead', 'terminating'])(
  'a kernel that is %s leaves a line instead of buttons that nobody hears',
  async status => {
    const { below, statusChanged } = opened(['live']);
    await settled();
    statusChanged.emit('busy');
    expect(below(0)).toContain('model_id');
    statusChanged.emit(status);
    expect(below(0)).toContain('The kernel ended while the agent worked here.');
    expect(below(0)).not.toContain('model_id');
    expect(below(1)).toContain('slider');
  }
);

test('another kernel leaves that line, the first one that is there does not', async () => {
  const { below, kernelChanged } = opened(['live']);
  await settled();
  kernelChanged.emit({ oldValue: null });
  expect(below(0)).toContain('model_id');
  kernelChanged.emit({ oldValue: {} });
  expect(below(0)).not.toContain('model_id');
});

test('kernels of notebooks without a running turn are asked nothing', async () => {
  const { model, requestCommInfo, statusChanged } = opened(['live']);
  requestCommInfo.mockClear();
  model.sharedModel.deleteCell(0);
  await settled();
  statusChanged.emit('restarting');
  expect(requestCommInfo).not.toHaveBeenCalled();
});
