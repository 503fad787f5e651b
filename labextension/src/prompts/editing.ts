/**
 * An editor in which a prompt is prose: wrapped, without the colours, the brackets and the
 * indentation of Python. In all other cells nothing changes.
 */

import { indentService } from '@codemirror/language';
import { EditorState, Extension, Prec, Range, StateField } from '@codemirror/state';
import { Decoration, DecorationSet, EditorView } from '@codemirror/view';

import { IMark, Kind, isPrompt, marksOf, marksOfMagic } from './prompt';

/** A longer prompt is prose as well; its marks end here. */
const MOST_LINES = 2_000;

const MARKS: Record<Kind, Decoration> = {
  magic: mark('magic'),
  option: mark('option'),
  value: mark('value'),
  mention: mark('mention')
};

/**
 * @param label What the cell is called, in one word.
 * @param name What its editor is called, for those who do not see it.
 */
export function promptEditing(label: string, name: string): Extension {
  // The last line leaves room for the label.
  const line = Decoration.line({
    class: 'hermes-prompt-line',
    attributes: { 'data-hermes-label': label, dir: 'auto' }
  });
  const decorations = StateField.define<DecorationSet>({
    create: state => decorated(state, line),
    update: (set, change) => (change.docChanged ? decorated(change.state, line) : set),
    provide: field => EditorView.decorations.from(field)
  });
  return [
    decorations,
    EditorView.perLineTextDirection.compute(['doc'], holds),
    EditorView.editorAttributes.compute(['doc'], state =>
      holds(state) ? { class: 'hermes-prompt', 'data-hermes-label': label } : NONE
    ),
    EditorView.contentAttributes.compute(['doc'], state =>
      holds(state)
        ? { class: 'cm-lineWrapping', spellcheck: 'true', 'aria-label': name }
        : NONE
    ),
    Prec.highest(
      EditorState.languageData.of(state =>
        holds(state) ? [{ closeBrackets: { brackets: ['(', '[', '{', '`'] } }] : []
      )
    ),
    Prec.highest(
      indentService.of(({ state }, at) =>
        holds(state) ? indentation(state.doc.lineAt(at).text) : undefined
      )
    )
  ];
}

const NONE: Record<string, string> = {};

function holds(state: EditorState): boolean {
  return isPrompt(state.doc.line(1).text || state.sliceDoc(0, 200));
}

function indentation(line: string): number {
  return line.length - line.trimStart().length;
}

function decorated(state: EditorState, line: Decoration): DecorationSet {
  if (!holds(state)) {
    return Decoration.none;
  }
  const ranges: Range<Decoration>[] = [];
  let isMagic = true;
  for (let number = 1; number <= Math.min(state.doc.lines, MOST_LINES); number++) {
    const { from, text } = state.doc.line(number);
    const marks: IMark[] = isMagic ? marksOfMagic(text) : marksOf(text);
    isMagic &&= marks.length === 0;
    ranges.push(line.range(from), ...marks.map(each => placed(each, from)));
  }
  return Decoration.set(ranges, true);
}

function placed({ from, to, kind }: IMark, start: number): Range<Decoration> {
  return MARKS[kind].range(start + from, start + to);
}

function mark(kind: string): Decoration {
  return Decoration.mark({ class: `hermes-prompt-${kind}` });
}
