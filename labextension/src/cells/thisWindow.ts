/**
 * Names the browser's window (or tab), the same when its page is reloaded.
 */

import { UUID } from '@lumino/coreutils';

const KEY = 'hermes-jupyter:window';

/** Empty where the browser keeps nothing for pages. */
export function thisWindow(): string {
  try {
    const known = sessionStorage.getItem(KEY) ?? UUID.uuid4();
    sessionStorage.setItem(KEY, known);
    return known;
  } catch (problem) {
    console.warn('hermes: this browser keeps nothing for a page', problem);
    return '';
  }
}
