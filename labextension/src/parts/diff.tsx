/**
 * A unified diff, line by line; what a line does is told by its first character, and by colour.
 */

import * as React from 'react';

const KINDS: Record<string, string> = { '+': 'added', '-': 'removed', '@': 'place' };

export function Diff({ text }: { text: string }): JSX.Element {
  return (
    <pre className="hermes-Diff" tabIndex={0}>
      {text.split('\n').map((line, number) => (
        <span key={number} className={`hermes-Diff-${KINDS[line[0]] ?? 'same'}`}>
          {`${line}\n`}
        </span>
      ))}
    </pre>
  );
}
