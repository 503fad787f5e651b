/**
 * Digests and differences of texts.
 */

import { digest as sha256 } from 'lib0/hash/sha256';

/** The part of a text that another text has instead. */
export interface ISplice {
  start: number;
  end: number;
  inserted: string;
}

/**
 * SHA-256 of the text in UTF-8, in hexadecimal. The browser's own is there only over https, and
 * makes one wait.
 */
export function digest(text: string): string {
  const bytes = sha256(new TextEncoder().encode(text));
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
}

/** What has to be replaced in `before` to have `after`: cursors elsewhere stay where they are. */
export function splice(before: string, after: string): ISplice {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) {
    start++;
  }
  let same = 0;
  while (
    same < shorter - start &&
    before[before.length - 1 - same] === after[after.length - 1 - same]
  ) {
    same++;
  }
  if (isInsidePair(before, start) || isInsidePair(after, start)) {
    start--;
  }
  if (
    same > 0 &&
    (isInsidePair(before, before.length - same) || isInsidePair(after, after.length - same))
  ) {
    same--;
  }
  return {
    start,
    end: before.length - same,
    inserted: after.slice(start, after.length - same)
  };
}

/** Whether this place is between the two halves of one character. */
function isInsidePair(text: string, place: number): boolean {
  const code = text.charCodeAt(place - 1);
  const next = text.charCodeAt(place);
  return code >= 0xd800 && code <= 0xdbff && next >= 0xdc00 && next <= 0xdfff;
}
