/**
 * A unified diff, line by line; what a line does is told by its first character, and by colour.
 */

import * as React from 'react';

const KINDS: Record<string, string> = { '+': 'added', '-': 'removed', '@': 'place' };

export function Diff({ text }: { text: string }): JSX.Element {
  return (
    <pre className="hermes-Diff" tabIndex={0}>
      <DiffLines text={text} />
    </pre>
  );
}

export function DiffLines({ text }: { text: string }): JSX.Element {
  const lines = linesOf(text);
  return (
    <>
      {lines.map((line, number) => (
        <span key={number} className={`hermes-Diff-${kindOf(lines, number)}`}>
          {`${line}\n`}
        </span>
      ))}
    </>
  );
}

/** The lines of a text; one that ends with a new line has no empty one after it. */
export function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n');
}

function kindOf(lines: readonly string[], number: number): string {
  const [line, before, after] = [lines[number], lines[number - 1], lines[number + 1]];
  const namesFile =
    (line.startsWith('--- ') && after?.startsWith('+++ ')) ||
    (line.startsWith('+++ ') && before?.startsWith('--- '));
  return namesFile ? 'place' : (KINDS[line[0]] ?? 'same');
}
