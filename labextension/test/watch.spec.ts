import { Heard, Watch } from '../src/agents/watch';
import { FakeKernel, settled } from './fakes';

const LOADED = ['debugger', 'hermes agents'];
const PENDING = { status: 'ok', protocol: 1, requests: [], turns: [] };

function watched(kernel: FakeKernel): { watch: Watch; heard: Heard[] } {
  const watch = new Watch(kernel.connection);
  const heard: Heard[] = [];
  watch.heard.connect((_, said) => heard.push(said));
  return { watch, heard };
}

test.each([[['debugger']], [[]], [undefined]])(
  'a kernel without the extension is asked for its info, and nothing else',
  async features => {
    const kernel = new FakeKernel('k', features);
    const { heard } = watched(kernel);
    await settled();
    kernel.connect('connecting');
    kernel.connect('connected');
    await settled();
    expect(kernel.asked).toEqual(['kernel_info_request', 'kernel_info_request']);
    expect(heard.filter(({ kind }) => kind !== 'connection')).toEqual([]);
  }
);

test('a kernel for another language is asked for nothing', async () => {
  const kernel = new FakeKernel('k', undefined);
  kernel.spec = Promise.resolve({ language: 'R' });
  watched(kernel);
  await settled();
  expect(kernel.asked).toEqual([]);
});

test.each([async () => undefined, () => Promise.reject(new Error('no such kernel'))])(
  'one of which nothing is known is asked for its info',
  async spec => {
    const kernel = new FakeKernel('k', []);
    kernel.spec = spec();
    watched(kernel);
    await settled();
    expect(kernel.asked).toEqual(['kernel_info_request']);
  }
);

test('a page that comes later sees what waits', async () => {
  const kernel = new FakeKernel('k', LOADED, () => PENDING);
  const { watch, heard } = watched(kernel);
  await settled();
  expect(kernel.asked).toEqual(['kernel_info_request', 'hermes_request pending']);
  expect(heard).toEqual([{ kind: 'pending', pending: PENDING, since: expect.any(Number) }]);
  expect(watch.hasSpoken).toBe(true);
});

test('a kernel that has unloaded the extension has nothing to say', async () => {
  const kernel = new FakeKernel('k', []);
  const { watch } = watched(kernel);
  kernel.tell({ event: 'ready' });
  expect(watch.hasSpoken).toBe(true);
  kernel.tell({ event: 'unloaded' });
  expect(watch.hasSpoken).toBe(false);
});

test('a page that hears that the extension was loaded says that it is there', async () => {
  const features: string[] = [];
  const kernel = new FakeKernel('k', features, () => PENDING);
  watched(kernel);
  await settled();
  features.push(...LOADED);
  kernel.tell({ event: 'ready' });
  await settled();
  expect(kernel.asked.pop()).toBe('hermes_request pending');
});
