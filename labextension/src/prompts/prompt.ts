/**
 * What in the text of a cell is a prompt for the agent, and what of it stands for something else.
 */

export type Kind = 'magic' | 'option' | 'value' | 'mention';

export interface IMark {
  from: number;
  to: number;
  kind: Kind;
}

const MAGIC = /^\s*%%agent(?![^\s])/;
const OPTION = /(?<=\s)--?[a-z][a-z-]*/g;
/** What the kernel puts a value for, or explains: `{total}`, `@sales`. */
const PLACES = /(\{[^{}\n]+\})|((?<![\w@])@[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)/g;

/** Whether the cell whose first lines these are is a prompt. */
export function isPrompt(text: string): boolean {
  return MAGIC.test(text);
}

/** The marks on the line of the magic. */
export function marksOfMagic(line: string): IMark[] {
  const magic = MAGIC.exec(line);
  if (magic === null) {
    return [];
  }
  const to = magic[0].length;
  const from = to - '%%agent'.length;
  const options = [...line.matchAll(OPTION)].map(({ index, 0: found }): IMark => ({
    from: index,
    to: index + found.length,
    kind: 'option'
  }));
  return [{ from, to, kind: 'magic' }, ...options];
}

/** The marks on a line of the prompt itself. */
export function marksOf(line: string): IMark[] {
  return [...line.matchAll(PLACES)].map(({ index, 0: found, 1: value }) => ({
    from: index,
    to: index + found.length,
    kind: value === undefined ? 'mention' : 'value'
  }));
}
