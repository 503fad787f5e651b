/**
 * Text as a block, as it is; what of it is the difference of a file is coloured.
 */

import { element, labelled } from './elements';

const MOST_COLOURED_LINES = 2_000;

type Kind = 'added' | 'removed' | 'place' | 'same';

/** One block; none for a text without anything in it. */
export function listing(text: string): HTMLElement[] {
  if (text.trim() === '') {
    return [];
  }
  const node = element('pre', 'hermes-listing');
  node.tabIndex = 0; // so that the keyboard can scroll it
  const lines = text.replace(/\n+$/, '').split('\n');
  const kinds = lines.length > MOST_COLOURED_LINES ? [] : kindsOf(lines);
  if (kinds.every(kind => kind === 'same')) {
    node.textContent = lines.join('\n');
  } else {
    node.classList.add('hermes-Diff');
    node.append(
      ...lines.map((line, n) => labelled('span', line, `hermes-Diff-${kinds[n]}`))
    );
  }
  return [node];
}

/** What each line is; unified differences begin with two lines that name the files. */
export function kindsOf(lines: readonly string[]): Kind[] {
  let isInside = false;
  return lines.map((line, n) => {
    if (line.startsWith('--- ') && (lines[n + 1] ?? '').startsWith('+++ ')) {
      isInside = true;
      return 'place';
    }
    if (!isInside) {
      return 'same';
    }
    if (
      line.startsWith('@@') ||
      (line.startsWith('+++ ') && n > 0 && lines[n - 1].startsWith('--- '))
    ) {
      return 'place';
    }
    if (line.startsWith('+')) {
      return 'added';
    }
    if (line.startsWith('-')) {
      return 'removed';
    }
    isInside = line === '' || line.startsWith(' ') || line.startsWith('\\');
    return 'same';
  });
}
