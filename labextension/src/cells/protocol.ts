/**
 * What the kernel asks a page, and what the page answers: docs/cell-protocol.md.
 */

import * as nbformat from '@jupyterlab/nbformat';
import { JSONObject, JSONValue } from '@lumino/coreutils';

export const TARGET = 'hermes.cells';
export const PROTOCOL = 1;
export const CAN = ['read', 'whole', 'insert', 'edit', 'move', 'delete', 'show'];

/** Why something was not done; the kernel knows these words. */
export type Reason = 'closed' | 'missing' | 'changed' | 'refused' | 'invalid';

/** A request is not done. The message is read by the model. */
export class Refusal extends Error {
  constructor(
    readonly reason: Reason,
    message: string
  ) {
    super(message);
  }
}

/** A cell as the kernel is told of it. */
export interface ITold {
  id: string;
  type: nbformat.CellType;
  source: string;
  execution_count: number | null;
  outputs?: nbformat.IOutput[];
  metadata?: Partial<nbformat.ICellMetadata>;
}

/** A request whose parts are not looked at yet. */
export interface IRequest extends JSONObject {
  id: string;
  do: string;
}

export function isObject(data: JSONValue | undefined): data is JSONObject {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

/** Whether the kernel's message is a request. */
export function isRequest(data: JSONValue): data is IRequest {
  return isObject(data) && typeof data.id === 'string' && typeof data.do === 'string';
}

/**
 * A part of a request that must be text.
 *
 * @throws Refusal
 */
export function text(request: JSONObject, name: string): string {
  const value = request[name];
  if (typeof value !== 'string') {
    throw new Refusal('invalid', `${name} must be a text`);
  }
  return value;
}
