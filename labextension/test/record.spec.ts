import { RenderMimeRegistry, standardRendererFactories } from '@jupyterlab/rendermime';
import { nullTranslator } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import { find } from '../src/renderer/finding';
import { inert, quiet } from '../src/renderer/inert';
import { kindsOf } from '../src/renderer/listing';
import { scaleOf } from '../src/renderer/timeline';
import { MIME_TYPE, readTurn } from '../src/renderer/turn';
import { RenderedTurn } from '../src/renderer/widget';
import { footerOf, summaryOf } from '../src/renderer/words';

const trans = nullTranslator.load('');

function called(about: object = {}): object {
  return {
    type: 'called',
    name: 'read_file',
    short: 'a.txt',
    args: '',
    status: 'ok',
    seconds: 1,
    decisions: [],
    result: 'twelve lines',
    ...about
  };
}

function record(events: object[], about: object = {}): object {
  return {
    v: 2,
    session: 'default',
    session_id: 's1',
    turn: 'ab12',
    status: 'done',
    ended: 'Done',
    model: 'm',
    tools: [],
    steps: 2,
    seconds: 3,
    events,
    usage: { prompt_tokens: 1200, completion_tokens: 4 },
    ...about
  };
}

async function rendered(data: object): Promise<HTMLElement> {
  const rendermime = new RenderMimeRegistry({
    initialFactories: standardRendererFactories
  });
  const surroundings = { rendermime, tracker: null, translator: nullTranslator };
  const widget = new RenderedTurn(surroundings, {
    mimeType: MIME_TYPE,
    resolver: null,
    sanitizer: rendermime.sanitizer,
    linkHandler: null,
    latexTypesetter: null
  });
  Widget.attach(widget, document.body);
  await widget.renderModel(rendermime.createModel({ data: data as never }));
  return widget.node;
}

beforeEach(() => jest.spyOn(console, 'warn').mockImplementation());

describe('what we cannot draw', () => {
  test.each([
    ['a version to come', record([], { v: 3 })],
    ['a part to come', record([{ type: 'danced', text: 'x' }])],
    ['a part that is none', record([null as never])],
    ['a call without a name', record([called({ name: undefined })])],
    ['a number that is none', record([], { seconds: '3' })],
    ['a list', []],
    ['nothing', null]
  ])('is shown as HTML: %s', async (_, turn) => {
    const data = {
      [MIME_TYPE]: turn,
      'text/html': '<p>as <b>HTML</b></p>',
      'text/plain': 'x'
    };
    const node = await rendered(data);
    expect(node.textContent).toBe('as HTML');
    expect(node.querySelector('b')).not.toBeNull();
  });

  test('is shown as text where there is no HTML', async () => {
    const node = await rendered({
      [MIME_TYPE]: record([], { v: 3 }),
      'text/plain': 'as text'
    });
    expect(node.textContent).toContain('as text');
  });

  test('is never shown as nothing', async () => {
    const node = await rendered({ [MIME_TYPE]: record([], { v: 3 }), 'text/plain': '' });
    expect(node.textContent).toContain('newer version');
  });

  test('is what lies too deep', () => {
    let part = called();
    for (let depth = 0; depth < 20; depth++) {
      const lane = { name: 'a', goal: '', status: 'completed', state: '✓ done', text: '' };
      part = called({ lanes: [{ ...lane, parts: [part] }] });
    }
    expect(() => readTurn(record([part]))).toThrow('too deep');
  });
});

describe('a record', () => {
  test('of version 1 is drawn as well', async () => {
    const node = await rendered({
      [MIME_TYPE]: record([{ type: 'said', text: 'hello' }], { v: 1, tools: undefined })
    });
    expect(node.querySelector('.hermes-record')?.textContent).toContain('hello');
  });

  test('says in its last line what it took', () => {
    const turn = readTurn(record([], { changed: { file: 2 } }));
    expect(footerOf(turn, trans)).toBe(
      'm · 2 steps · 1,204 tokens · 3 s · 2 files changed · %hermes undo'
    );
  });

  test('tells nothing of an answer until the call is opened', async () => {
    const node = await rendered({ [MIME_TYPE]: record([called()]) });
    const call = node.querySelector('details.hermes-call') as HTMLDetailsElement;
    expect(node.textContent).not.toContain('twelve lines');
    call.open = true;
    call.dispatchEvent(new Event('toggle'));
    expect(call.textContent).toContain('twelve lines');
  });

  test('folds many calls in a row, but none that a person decided on', async () => {
    const decided = called({ decisions: ['Allowed once by you'] });
    const events = [...Array(5).fill(called()), decided];
    const node = await rendered({ [MIME_TYPE]: record(events) });
    const [folded, alone] = node.querySelector('.hermes-body')?.children ?? [];
    expect(folded.textContent).toBe('5 tool calls: read_file ×5');
    expect(alone.textContent).toContain('Allowed once by you');
  });

  test('that was printed already is a single line', async () => {
    const node = await rendered({ [MIME_TYPE]: record([called()]), 'text/plain': '' });
    expect((node.querySelector('.hermes-seen') as HTMLDetailsElement).open).toBe(false);
  });

  test('offers nothing that needs a notebook where there is none', async () => {
    const node = await rendered({ [MIME_TYPE]: record([called()]) });
    const buttons = [...node.querySelectorAll('button')].filter(
      each => !each.hidden && each.closest('[hidden]') === null
    );
    expect(buttons.map(each => each.textContent)).toEqual(['Copy']);
  });
});

test('a summary counts the tools and what went wrong', () => {
  const events = [called(), called(), called({ name: 'terminal', status: 'denied' })];
  const turn = readTurn(record(events));
  expect(summaryOf(turn.parts as never, trans)).toBe(
    '3 tool calls: read_file ×2, terminal · 1 denied'
  );
});

test('text is found in what is not drawn yet', () => {
  const lane = { name: 'one', goal: '', status: 'completed', state: '✓ done', text: '' };
  const parts = [{ type: 'said', text: 'a Needle' }, called({ result: 'needle' })];
  const turn = readTurn(
    record([...parts, called({ lanes: [{ ...lane, parts: [parts[0]] }] })])
  );
  expect(find(turn.parts, 'needle')).toEqual([[0], [1], [2, 0, 0]]);
});

describe('Markdown of a model', () => {
  test.each([
    ['<img src=x>', '&lt;img src=x>'],
    ['![a](http://x)', '!\\[a](http://x)'],
    ['1 < 2 and `<b>`', '1 < 2 and `<b>`'],
    ['```html\n<b>\n```\n<b>', '```html\n<b>\n```\n&lt;b>'],
    ['- ```\n<b>', '- ```\n&lt;b>'],
    ['~~~\n<b>\n```\n<b>\n~~~\n<i>', '~~~\n<b>\n```\n<b>\n~~~\n&lt;i>']
  ])('%j has no HTML and no images', (text, expected) => {
    expect(inert(text)).toBe(expected);
  });

  test.each([
    '<img src="http://x/a.png" alt="x">',
    '<p style="background: url(http://x)">x</p>',
    '<video src="http://x" poster="http://x"></video>x',
    '<a href="#" data-commandlinker-command="x">x</a>'
  ])('of %j nothing is left that loads or acts', html => {
    const same = quiet({ sanitize: dirty => dirty }).sanitize(html);
    expect(same).not.toMatch(/http:|style|src|commandlinker/);
    expect(same).toContain('x');
  });

  test('keeps its headings below those of the notebook', () => {
    expect(quiet({ sanitize: dirty => dirty }).sanitize('<h1>a</h1>')).toBe('<h2>a</h2>');
  });

  test('is drawn without its HTML', async () => {
    const text = '<b onclick="x()">bold</b>';
    const node = await rendered({ [MIME_TYPE]: record([{ type: 'said', text }]) });
    expect(node.querySelector('b')).toBeNull();
    expect(node.textContent).toContain('<b');
  });
});

test('the lines of a difference are told from others', () => {
  const text = 'diff:\n--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n same\nend\n-not\n';
  expect(kindsOf(text.split('\n')).join(' ')).toBe(
    'same place place place removed added same same same same'
  );
});

describe('the time line', () => {
  test.each([
    [
      [
        { at: 1, seconds: 3 },
        { at: 2, seconds: 4 }
      ],
      { from: 1, to: 6 }
    ],
    [
      [
        { at: 1, seconds: 1 },
        { at: 2, seconds: 1 }
      ],
      null
    ],
    [
      [
        { at: null, seconds: 1 },
        { at: 2, seconds: 1 }
      ],
      null
    ],
    [[{ at: 1, seconds: 3 }], null]
  ])('of %j', (timed, expected) => {
    expect(scaleOf(timed)).toEqual(expected);
  });
});
