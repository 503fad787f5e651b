/**
 * The words of a record; those of hermes_jupyter/views/words.py, as far as the record has none.
 */

import { TranslationBundle } from '@jupyterlab/translation';

import { ICalled, ITurn } from './turn';

/** Sign and words for how a call ended. */
export interface IEnding {
  sign: string;
  words: string;
}

/** "✓", "done · 0.2 s · Allowed once by you". */
export function endingOf(call: ICalled, trans: TranslationBundle): IEnding {
  const [sign, word] = stateOf(call, trans);
  const time = call.seconds >= 0.05 ? [duration(call.seconds, trans)] : [];
  // A person's "no" is told in their words, which the record holds last.
  const denial = call.status === 'denied' ? call.decisions.slice(-1) : [];
  const others = denial.length > 0 ? call.decisions.slice(0, -1) : call.decisions;
  const first = denial.length > 0 ? denial : [word, ...time];
  return { sign, words: [...first, ...others].join(' · ') };
}

function stateOf(call: ICalled, trans: TranslationBundle): [string, string] {
  switch (call.status) {
    case 'ok':
      return call.exitCode
        ? ['•', trans.__('exit code %1', call.exitCode)]
        : ['✓', trans.__('done')];
    case 'error':
      return ['✗', trans.__('failed')];
    case 'denied':
      return ['⊘', trans.__('denied')];
    case 'timeout':
      return ['✗', trans.__('timed out')];
    case 'interrupted':
      return ['◼', trans.__('interrupted')];
    default:
      return ['◼', trans.__('not finished')];
  }
}

/** "12 tool calls: read_file ×5, terminal ×7 · 1 failed". */
export function summaryOf(calls: readonly ICalled[], trans: TranslationBundle): string {
  const names = counted(calls.map(({ name }) => name));
  const used = names.slice(0, 6).map(([name, n]) => (n === 1 ? name : `${name} ×${n}`));
  const more = names.length > 6 ? ['…'] : [];
  const bad = calls.filter(({ status }) => status !== 'ok');
  const ends = counted(bad.map(call => stateOf(call, trans)[1]));
  const title = trans._n('%1 tool call', '%1 tool calls', calls.length);
  return [
    `${title}: ${[...used, ...more].join(', ')}`,
    ...ends.map(([word, number]) => `${number} ${word}`)
  ].join(' · ');
}

/** "qwen3 · 3 steps · 1,204 tokens · $0.0042 · 12 s · 2 files changed · %hermes undo". */
export function footerOf(turn: ITurn, trans: TranslationBundle): string {
  const tokens = turn.usage.read + turn.usage.written;
  const changed = turn.changed.filter(([, count]) => count > 0);
  const counts = changed.map(([kind, count]) => things(kind, count, trans));
  return [
    turn.model,
    turn.steps > 0 ? trans._n('%1 step', '%1 steps', turn.steps) : '',
    tokens > 0
      ? trans._n('%2 token', '%2 tokens', tokens, tokens.toLocaleString('en'))
      : '',
    costOf(turn, trans),
    duration(turn.seconds, trans),
    replayOf(turn, trans),
    counts.length > 0 ? trans.__('%1 changed · %hermes undo', counts.join(', ')) : ''
  ]
    .filter(Boolean)
    .join(' · ');
}

function things(kind: string, count: number, trans: TranslationBundle): string {
  switch (kind) {
    case 'file':
      return trans._n('%1 file', '%1 files', count);
    case 'cell':
      return trans._n('%1 cell', '%1 cells', count);
    case 'variable':
      return trans._n('%1 variable', '%1 variables', count);
    default:
      return `${count} ${kind}`;
  }
}

/** "more than $0.0042"; empty if nobody says what it costs. */
export function costOf({ usage }: ITurn, trans: TranslationBundle): string {
  if (!usage.cost) {
    return '';
  }
  const dollars = `$${usage.cost >= 1 ? usage.cost.toFixed(2) : usage.cost.toFixed(4)}`;
  return usage.unpricedCalls ? trans.__('more than %1', dollars) : dollars;
}

function replayOf({ replayed }: ITurn, trans: TranslationBundle): string {
  const when = replayed?.recordedAt.replace('T', ' ').slice(0, 16) ?? '';
  switch (replayed?.how) {
    case 'kept':
      return trans.__('kept from %1 UTC; --fresh asks anew', when);
    case 'tools':
      return trans.__('replayed from %1 UTC, its tools run again', when);
    case 'record':
      return trans.__('replayed from %1 UTC, nothing was run', when);
    default:
      return '';
  }
}

/** "0.2 s", "12 s", "3 min 07 s". */
export function duration(seconds: number, trans: TranslationBundle): string {
  if (seconds < 10) {
    return trans.__('%1 s', seconds.toFixed(1).replace(/\.0$/, ''));
  }
  if (seconds < 60) {
    return trans.__('%1 s', seconds.toFixed(0));
  }
  const whole = Math.floor(seconds);
  return trans.__(
    '%1 min %2 s',
    Math.floor(whole / 60),
    String(whole % 60).padStart(2, '0')
  );
}

function counted(words: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  words.forEach(word => counts.set(word, (counts.get(word) ?? 0) + 1));
  return [...counts];
}
