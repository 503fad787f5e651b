/**
 * What is known of one kernel's agents: made of what it said, never changed in place.
 */

import { JSONObject } from '@lumino/coreutils';

import {
  approvalOf,
  IOutcome,
  ITurn,
  listOf,
  outcomeOf,
  object,
  questionOf,
  text,
  turnOf,
  Waiting
} from './protocol';

const OVER = ['done', 'stopped', 'interrupted', 'failed'];

/** The decision on what waited in a kernel that has ended. */
export const GONE = 'gone';

/** Something that waits, or waited a moment ago. */
export interface IItem {
  waiting: Waiting;
  /** How it was answered, as soon as it was. */
  outcome: IOutcome | null;
}

export interface IState {
  items: readonly IItem[];
  turns: readonly ITurn[];
}

export const NOTHING: IState = { items: [], turns: [] };

/** After the kernel has told all that waits. */
export function told(before: IState, pending: JSONObject): IState {
  const waiting: Waiting[] = [
    ...listOf(pending.requests ?? [], approvalOf),
    ...listOf(pending.questions ?? [], questionOf)
  ];
  const ids = new Set(waiting.map(({ id }) => id));
  const answered = before.items.filter(
    ({ waiting, outcome }) => outcome && !ids.has(waiting.id)
  );
  return {
    items: [...answered, ...waiting.map(waiting => ({ waiting, outcome: null }))],
    turns: listOf(pending.turns ?? [], turnOf)
  };
}

/** After an event. */
export function happened(before: IState, event: JSONObject): IState {
  switch (event.event) {
    case 'asked':
      return asked(
        before,
        approvalOf(event.request ?? null) ?? questionOf(event.question ?? null)
      );
    case 'answered': {
      const about = object(event.request ?? event.question);
      return answered(before, text(about.id), outcomeOf(about.outcome ?? null));
    }
    case 'turn':
      return went(before, turnOf(event.turn ?? null));
    default:
      return before;
  }
}

/** After something was answered. */
export function answered(before: IState, id: string, outcome: IOutcome): IState {
  const items = before.items.map(item =>
    // The kernel tells it twice, as a reply and as an event: the one with more words counts.
    item.waiting.id === id && !item.outcome?.said ? { ...item, outcome } : item
  );
  return { ...before, items };
}

/** After the kernel has ended: nothing waits any more. */
export function ended(before: IState): IState {
  const gone: IOutcome = { decision: GONE, by: '', said: '' };
  const items = before.items.map(({ waiting, outcome }) => ({
    waiting,
    outcome: outcome ?? gone
  }));
  return { items, turns: [] };
}

/** Without this item. */
export function without(before: IState, id: string): IState {
  return { ...before, items: before.items.filter(({ waiting }) => waiting.id !== id) };
}

function asked(before: IState, waiting: Waiting | null): IState {
  if (waiting === null || before.items.some(item => item.waiting.id === waiting.id)) {
    return before;
  }
  return { ...before, items: [...before.items, { waiting, outcome: null }] };
}

function went(before: IState, turn: ITurn | null): IState {
  if (turn === null) {
    return before;
  }
  const others = before.turns.filter(each => each.turn !== turn.turn);
  return { ...before, turns: OVER.includes(turn.state) ? others : [...others, turn] };
}
