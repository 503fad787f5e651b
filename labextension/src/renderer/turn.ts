/**
 * The record of a turn as it stands in a notebook, read without trust: see docs/record.md.
 */

export const MIME_TYPE = 'application/vnd.hermes.turn+json';

export interface ISaid {
  type: 'said' | 'thought' | 'spoken' | 'warned';
  text: string;
}

export interface ICalled {
  type: 'called';
  emoji: string;
  name: string;
  short: string;
  args: string;
  status: string;
  seconds: number;
  exitCode: number;
  decisions: string[];
  edited: string;
  result: string;
  details: string;
  byHand: boolean;
  lanes: ILane[];
  moreLanes: number;
  /** Seconds after the turn began. */
  at: number | null;
}

export interface ILane {
  name: string;
  goal: string;
  status: string;
  /** How it ended and what it took, in words. */
  state: string;
  text: string;
  parts: Part[];
  seconds: number;
  at: number | null;
}

export interface IAsked {
  type: 'asked';
  text: string;
  answer: string | null;
}

export interface ICompared {
  type: 'compared';
  text: string;
  count: number;
}

export interface IOmitted {
  type: 'omitted';
  number: number;
}

export type Part = ISaid | ICalled | IAsked | ICompared | IOmitted;

export interface ITurn {
  turn: string;
  sessionId: string;
  status: string;
  ended: string;
  model: string;
  tools: string[];
  steps: number;
  seconds: number;
  parts: Part[];
  usage: IUsage;
  changed: [string, number][];
  isCut: boolean;
  replayed: { how: string; recordedAt: string } | null;
}

export interface IUsage {
  read: number;
  written: number;
  cached: number;
  modelCalls: number;
  cost: number;
  unpricedCalls: number;
  priceSource: string;
}

type Json = Record<string, unknown>;

/** A record that we cannot draw: there is an HTML rendering beside it. */
export class Unreadable extends Error {}

const KNOWN = [1, 2];
const MAX_DEPTH = 8;
/** Control characters, and those that turn the direction of the text that follows. */
const INVISIBLE =
  // eslint-disable-next-line no-control-regex
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/**
 * Read a record.
 *
 * @throws Unreadable, if it is of another version, or not as the schema has it.
 */
export function readTurn(value: unknown): ITurn {
  const turn = object(value);
  if (!KNOWN.includes(turn.v as number)) {
    throw new Unreadable(`version ${String(turn.v)}`);
  }
  const replayed = turn.replayed === undefined ? null : object(turn.replayed);
  return {
    turn: text(turn, 'turn'),
    sessionId: text(turn, 'session_id'),
    status: text(turn, 'status'),
    ended: text(turn, 'ended'),
    model: text(turn, 'model'),
    tools: turn.tools === undefined ? [] : list(turn.tools).map(String),
    steps: number(turn, 'steps'),
    seconds: number(turn, 'seconds'),
    parts: readParts(turn.events, 0),
    usage: readUsage(object(turn.usage)),
    changed: Object.entries(turn.changed === undefined ? {} : object(turn.changed)).map(
      ([kind, count]) => [kind, Number(count) || 0]
    ),
    isCut: turn.whole !== undefined,
    replayed: replayed && {
      how: text(replayed, 'how'),
      recordedAt: text(replayed, 'recorded_at')
    }
  };
}

function readUsage(usage: Json): IUsage {
  return {
    read: number(usage, 'prompt_tokens', 0),
    written: number(usage, 'completion_tokens', 0),
    cached: number(usage, 'cached_tokens', 0),
    modelCalls: number(usage, 'model_calls', 0),
    cost: number(usage, 'cost', 0),
    unpricedCalls: number(usage, 'unpriced_calls', 0),
    priceSource: text(usage, 'price_source', '')
  };
}

function readParts(value: unknown, depth: number): Part[] {
  if (depth > MAX_DEPTH) {
    throw new Unreadable('too deep');
  }
  return list(value).map(each => readPart(object(each), depth));
}

function readPart(part: Json, depth: number): Part {
  switch (part.type) {
    case 'said':
    case 'thought':
    case 'spoken':
    case 'warned':
      return { type: part.type, text: text(part, 'text') };
    case 'asked':
      return {
        type: 'asked',
        text: text(part, 'text'),
        answer: part.answer === null ? null : text(part, 'answer')
      };
    case 'compared':
      return { type: 'compared', text: text(part, 'text'), count: number(part, 'count') };
    case 'omitted':
      return { type: 'omitted', number: number(part, 'number') };
    case 'called':
      return readCall(part, depth);
    default:
      throw new Unreadable(`a part of the type ${String(part.type)}`);
  }
}

function readCall(call: Json, depth: number): ICalled {
  const lanes = call.lanes === undefined ? [] : list(call.lanes);
  return {
    type: 'called',
    emoji: text(call, 'emoji', ''),
    name: text(call, 'name'),
    short: text(call, 'short'),
    args: text(call, 'args'),
    status: text(call, 'status'),
    seconds: number(call, 'seconds'),
    exitCode: number(call, 'exit_code', 0),
    decisions: list(call.decisions).map(String),
    edited: text(call, 'edited', ''),
    result: text(call, 'result'),
    details: text(call, 'details', ''),
    byHand: call.by_hand === true,
    lanes: lanes.map(each => readLane(object(each), depth)),
    moreLanes: number(call, 'more_lanes', 0),
    at: moment(call)
  };
}

function readLane(lane: Json, depth: number): ILane {
  return {
    name: text(lane, 'name'),
    goal: text(lane, 'goal'),
    status: text(lane, 'status'),
    state: text(lane, 'state'),
    text: text(lane, 'text'),
    parts: readParts(lane.parts, depth + 1),
    seconds: number(lane, 'seconds', 0),
    at: moment(lane)
  };
}

function moment(about: Json): number | null {
  return about.at === undefined ? null : number(about, 'at');
}

function object(value: unknown): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Unreadable('not an object');
  }
  return value as Json;
}

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) {
    throw new Unreadable('not a list');
  }
  return value;
}

function text(about: Json, name: string, otherwise?: string): string {
  const value = about[name] ?? otherwise;
  if (typeof value !== 'string') {
    throw new Unreadable(`${name} is not a text`);
  }
  return value.replace(INVISIBLE, '');
}

function number(about: Json, name: string, otherwise?: number): number {
  const value = about[name] ?? otherwise;
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new Unreadable(`${name} is not a number`);
  }
  return value;
}
