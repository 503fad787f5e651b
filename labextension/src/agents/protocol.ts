/**
 * What kernels tell of their agents: docs/control-protocol.md. What is malformed becomes empty, so
 * that it can be drawn; a request without an id or a digest cannot be answered, and is left out.
 */

import { JSONObject, JSONValue } from '@lumino/coreutils';

export const PROTOCOL = 1;
export const REQUEST = 'hermes_request';
export const EVENT = 'hermes_event';

export type Choice = 'once' | 'session' | 'always' | 'deny';

/** What the two kinds of waiting things have in common. */
interface IWaiting {
  id: string;
  digest: string;
  turn: string;
  cell: string;
  session: string;
  /** In seconds since 1970. */
  askedAt: number;
}

/** A call that waits for a person. All texts are plain. */
export interface IApproval extends IWaiting {
  kind: 'approval';
  who: string;
  tool: string;
  what: string;
  diff: string;
  folder: string;
  place: string;
  effects: string[];
  effectsLeftOut: number;
  risk: string;
  reasons: string[];
  purpose: string;
  grant: string;
  rule: string;
  choices: string[];
  edit: { name: string; text: string } | null;
}

/** Something that the model, or a command, wants to know. */
export interface IQuestion extends IWaiting {
  kind: 'question';
  text: string;
  options: string[];
  isSecret: boolean;
}

export type Waiting = IApproval | IQuestion;

/** A turn that runs, or has just ended. */
export interface ITurn {
  turn: string;
  session: string;
  cell: string;
  state: string;
  title: string;
  model: string;
  steps: number;
  maxSteps: number;
  tokens: number;
  /** In dollars, of the calls whose price is known. */
  cost: number;
  unpricedCalls: number;
  startedAt: number;
}

/** How something that waited was answered. */
export interface IOutcome {
  decision: string;
  by: string;
  said: string;
}

export function approvalOf(told: JSONValue): IApproval | null {
  const of = object(told);
  const edit = object(of.edit);
  return answerable({
    ...waiting(of),
    kind: 'approval',
    who: text(of.who),
    tool: text(of.tool),
    what: text(of.what),
    diff: text(of.diff),
    folder: text(of.folder),
    place: text(of.place),
    effects: texts(of.effects),
    effectsLeftOut: number(of.effects_left_out),
    risk: text(of.risk),
    reasons: texts(of.reasons),
    purpose: text(of.purpose),
    grant: text(of.grant),
    rule: text(of.rule),
    choices: texts(of.choices),
    edit: typeof edit.text === 'string' ? { name: text(edit.name), text: edit.text } : null
  });
}

export function questionOf(told: JSONValue): IQuestion | null {
  const of = object(told);
  return answerable({
    ...waiting(of),
    kind: 'question',
    text: text(of.text),
    options: texts(of.options),
    isSecret: of.secret === true
  });
}

export function turnOf(told: JSONValue): ITurn | null {
  const of = object(told);
  const turn = {
    turn: text(of.turn),
    session: text(of.session),
    cell: text(of.cell),
    state: text(of.state),
    title: text(of.title),
    model: text(of.model),
    steps: number(of.steps),
    maxSteps: number(of.max_steps),
    tokens: number(of.tokens),
    cost: number(of.cost),
    unpricedCalls: number(of.unpriced_calls),
    startedAt: number(of.started_at)
  };
  return turn.turn === '' ? null : turn;
}

export function outcomeOf(told: JSONValue): IOutcome {
  const of = object(told);
  return { decision: text(of.decision), by: text(of.by), said: text(of.said) };
}

/** All that can be read of a list. */
export function listOf<T>(told: JSONValue, read: (each: JSONValue) => T | null): T[] {
  return Array.isArray(told) ? told.map(read).filter(each => each !== null) : [];
}

export function object(value: JSONValue | undefined): JSONObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

export function text(value: JSONValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function waiting(of: JSONObject): IWaiting {
  return {
    id: text(of.id),
    digest: text(of.digest),
    turn: text(of.turn),
    cell: text(of.cell),
    session: text(of.session),
    askedAt: number(of.asked_at)
  };
}

function answerable<T extends IWaiting>(waiting: T): T | null {
  return waiting.id !== '' && waiting.digest !== '' ? waiting : null;
}

function texts(value: JSONValue | undefined): string[] {
  return Array.isArray(value) ? value.filter(each => typeof each === 'string') : [];
}

function number(value: JSONValue | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
