/**
 * Short texts of the panel.
 */

import { TranslationBundle } from '@jupyterlab/translation';

import { Declined } from '../agents/control';
import { GONE } from '../agents/state';
import { IApproval, IOutcome, ITurn, Waiting } from '../agents/protocol';

/** How long ago that was. */
export function age(askedAt: number, now: number, trans: TranslationBundle): string {
  const seconds = Math.max(0, Math.round(now / 1_000 - askedAt));
  if (seconds < 60) {
    return trans.__('%1 s', seconds);
  }
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? trans.__('%1 min', minutes)
    : trans.__('%1 h %2 min', Math.floor(minutes / 60), minutes % 60);
}

/** Who asks for what, in a line. */
export function headline(waiting: Waiting, trans: TranslationBundle): string {
  if (waiting.kind === 'question') {
    return waiting.isSecret ? trans.__('Asks for a password') : trans.__('Asks a question');
  }
  const { who, tool } = waiting;
  return who === '' || who === 'agent'
    ? trans.__('Asks to use %1', tool)
    : trans.__('%1 asks to use %2', who, tool);
}

/** How it was answered. */
export function ending({ decision, said }: IOutcome, trans: TranslationBundle): string {
  if (said !== '') {
    return said;
  }
  switch (decision) {
    case 'deny':
      return trans.__('Denied');
    case 'once':
      return trans.__('Allowed once');
    case 'session':
      return trans.__('Allowed for this session');
    case 'always':
      return trans.__('Allowed always');
    case GONE:
      return trans.__('The kernel has ended or begun anew. Nothing was allowed.');
    default:
      return trans.__('Answered');
  }
}

/** Where it was answered; empty if that is known, or nobody answered. */
export function whence(
  { by }: IOutcome,
  isMine: boolean | undefined,
  trans: TranslationBundle
): string {
  switch (by) {
    case 'panel':
      if (isMine === undefined) {
        return '';
      }
      return isMine ? trans.__('on this page') : trans.__('on another page');
    case 'widget':
      return trans.__('below the cell');
    case 'input':
      return trans.__('at the prompt');
    default:
      return '';
  }
}

/** Is nothing known of what became of an answer? */
export function isSilence(error: unknown): boolean {
  return error instanceof Declined && error.code === 'silent';
}

/** Why an answer did not get through. */
export function problem(error: unknown, trans: TranslationBundle): string {
  if (!(error instanceof Declined)) {
    return String(error);
  }
  return error.code === 'silent'
    ? trans.__(
        'The kernel did not answer. Whether it heard you is not known: your answer may still arrive. If this still waits in a moment, answer again; it counts once.'
      )
    : error.message;
}

/** Where it would happen, if that has to be said. */
export function whereabouts(
  { folder, place }: IApproval,
  trans: TranslationBundle
): string {
  if (place !== '') {
    return folder === '' ? place : trans.__('%1 on %2', folder, place);
  }
  return folder;
}

/** What a turn has used. */
export function usage(turn: ITurn, trans: TranslationBundle): string {
  const parts = [
    turn.maxSteps > 0
      ? trans.__('%1 of %2 steps', turn.steps, turn.maxSteps)
      : trans._n('%1 step', '%1 steps', turn.steps)
  ];
  if (turn.tokens > 0) {
    parts.push(trans.__('%1 tokens', turn.tokens.toLocaleString()));
  }
  if (turn.cost > 0) {
    const open = turn.unpricedCalls > 0 ? '+' : '';
    parts.push(`$${turn.cost.toFixed(turn.cost < 1 ? 4 : 2)}${open}`);
  }
  return parts.join(' · ');
}
