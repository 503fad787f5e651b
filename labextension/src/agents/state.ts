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
  /** Was it answered on this page? Undefined: this page tried, and whether it was heard is not known. */
  isMine: boolean | undefined;
  /** When this page learned of it, by its own clock in ms. */
  heardAt: number;
}

export interface IState {
  items: readonly IItem[];
  turns: readonly ITurn[];
}

export const NOTHING: IState = { items: [], turns: [] };

/**
 * After the kernel has told all that waits.
 *
 * It was asked at the time `since`. What it has asked and heard meanwhile came here by itself, maybe
 * before this: that counts more.
 */
export function told(before: IState, pending: JSONObject, since = Infinity): IState {
  const all: Waiting[] = [
    ...listOf(pending.requests ?? [], approvalOf),
    ...listOf(pending.questions ?? [], questionOf)
  ];
  const digests = new Map(all.map(({ id, digest }) => [id, digest]));
  const kept = before.items.filter(({ waiting: { id, digest }, outcome, heardAt }) =>
    digests.has(id) ? digests.get(id) === digest : outcome || heardAt >= since
  );
  const state = { items: kept, turns: listOf(pending.turns ?? [], turnOf) };
  return all.reduce(asked, state);
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

/** After this page has answered it, or has tried to. */
export function tried(before: IState, id: string, isMine: true | undefined): IState {
  const items = before.items.map(item =>
    item.waiting.id === id ? { ...item, isMine } : item
  );
  return { ...before, items };
}

/** After the kernel has ended: nothing waits any more. */
export function ended(before: IState): IState {
  const gone: IOutcome = { decision: GONE, by: '', said: '' };
  const items = before.items.map(item => ({ ...item, outcome: item.outcome ?? gone }));
  return { items, turns: [] };
}

/** Without this item, if it was answered. */
export function without(before: IState, id: string): IState {
  const items = before.items.filter(item => item.waiting.id !== id || !item.outcome);
  return { ...before, items };
}

/** What is asked anew under an id is another request. */
function isSame(one: Waiting, other: Waiting): boolean {
  return one.id === other.id && one.digest === other.digest;
}

function asked(before: IState, waiting: Waiting | null): IState {
  if (waiting === null || before.items.some(item => isSame(item.waiting, waiting))) {
    return before;
  }
  const others = before.items.filter(item => item.waiting.id !== waiting.id);
  const item = { waiting, outcome: null, isMine: false, heardAt: performance.now() };
  return { ...before, items: [...others, item] };
}

function went(before: IState, turn: ITurn | null): IState {
  if (turn === null) {
    return before;
  }
  const others = before.turns.filter(each => each.turn !== turn.turn);
  return { ...before, turns: OVER.includes(turn.state) ? others : [...others, turn] };
}
