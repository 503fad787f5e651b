import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { python } from '@codemirror/lang-python';

import { promptEditing } from '../src/prompts/editing';
import { isPrompt, marksOf, marksOfMagic } from '../src/prompts/prompt';

test.each([
  ['%%agent\nhello', true],
  ['%%agent', true],
  ['\n%%agent -m big\nhello', true],
  ['%%agents', false],
  ['# %%agent', false],
  ['print("%%agent")', false]
])('whether %j is a prompt', (text, expected) => {
  expect(isPrompt(text)).toBe(expected);
});

test.each([
  ['sum {total} of @sales', ['{total}', '@sales']],
  ['mail me@example.org and {}', []],
  ['@df.columns, {a + b}', ['@df.columns', '{a + b}']]
])('in %j stand for something else: %j', (line, expected) => {
  expect(marksOf(line).map(({ from, to }) => line.slice(from, to))).toEqual(expected);
});

test('options of the magic are told from it', () => {
  const line = '%%agent -m big --max-steps 3';
  const found = marksOfMagic(line).map(({ from, to }) => line.slice(from, to));
  expect(found).toEqual(['%%agent', '-m', '--max-steps']);
});

function editor(doc: string): EditorView {
  const extensions = [python(), promptEditing('Agent', 'Prompt for the agent')];
  return new EditorView({ state: EditorState.create({ doc, extensions }) });
}

test('a cell becomes prose as soon as its first line says so, and back', () => {
  const view = editor('agent\nif this: {x}');
  expect(view.dom.classList).not.toContain('hermes-prompt');
  view.dispatch({ changes: { from: 0, insert: '%%' } });
  expect(view.dom.dataset.hermesLabel).toBe('Agent');
  expect(view.contentDOM.getAttribute('aria-label')).toBe('Prompt for the agent');
  expect(view.contentDOM.querySelector('.hermes-prompt-value')?.textContent).toBe('{x}');
  view.dispatch({ changes: { from: 0, to: 2 } });
  expect(view.dom.classList).not.toContain('hermes-prompt');
  expect(view.contentDOM.querySelector('.hermes-prompt-line')).toBeNull();
});

test('quotes are not doubled in prose, and are in code', () => {
  const brackets = (doc: string): string[] =>
    editor(doc).state.languageDataAt<{ brackets: string[] }>('closeBrackets', 9)[0]
      .brackets;
  expect(brackets("%%agent\ndon't")).not.toContain("'");
  expect(brackets('x = 1\nprint()')).toContain("'");
});
