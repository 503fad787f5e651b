/**
 * When things ran that ran side by side: a bar for each, all on the same scale.
 */

import { TranslationBundle } from '@jupyterlab/translation';

import { element } from './elements';
import { duration } from './words';

interface ITimed {
  at: number | null;
  seconds: number;
}

/** From when to when, in seconds after the turn began. */
export interface IScale {
  from: number;
  to: number;
}

const LEAST_SECONDS = 0.5;

/** The scale of what ran at the same time; none if nobody knows when, or one ran after another. */
export function scaleOf(all: readonly ITimed[]): IScale | null {
  const known = all.filter(({ at }) => at !== null) as { at: number; seconds: number }[];
  if (known.length < 2) {
    return null;
  }
  const sorted = [...known].sort((one, other) => one.at - other.at);
  let latest = sorted[0].at + sorted[0].seconds;
  let isSideBySide = false;
  for (const { at, seconds } of sorted.slice(1)) {
    isSideBySide ||= at < latest - 0.05;
    latest = Math.max(latest, at + seconds);
  }
  const from = sorted[0].at;
  return isSideBySide && latest - from >= LEAST_SECONDS ? { from, to: latest } : null;
}

/** The bar of one of them; none where there is no scale. */
export function barOf(
  { at, seconds }: ITimed,
  scale: IScale | null,
  state: string,
  trans: TranslationBundle
): HTMLElement[] {
  if (scale === null || at === null) {
    return [];
  }
  const whole = scale.to - scale.from;
  const track = element('span', 'hermes-track');
  const bar = element('span', 'hermes-bar', `hermes-is-${state}`);
  const start = Math.min(1, (at - scale.from) / whole);
  bar.style.left = `${(100 * start).toFixed(2)}%`;
  bar.style.width = `${(100 * Math.min(1 - start, seconds / whole)).toFixed(2)}%`;
  track.append(bar);
  const from = duration(at - scale.from, trans);
  const to = duration(at - scale.from + seconds, trans);
  track.title = trans.__('Ran from %1 to %2', from, to);
  track.setAttribute('role', 'img');
  track.setAttribute('aria-label', track.title);
  return [track];
}
