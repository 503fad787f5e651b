/**
 * What drawing takes.
 */

import { TranslationBundle } from '@jupyterlab/translation';

import { Prose } from './prose';
import { Part } from './turn';

export interface IPens {
  prose: Prose;
  trans: TranslationBundle;
  log: (parts: readonly Part[]) => ILog;
}

/** Where something stands: the number of the part; of its lane; of the part in that; and so on. */
export type Path = readonly number[];

/** Parts, one below the other. */
export interface ILog {
  nodes: readonly HTMLElement[];
  /** Open what hides the part that stands there, and return its element. */
  reveal: (path: Path) => HTMLElement | null;
}
