/**
 * Has a window remember what the agent has changed and nobody has looked at, when it is reloaded.
 */

import { NotebookPanel } from '@jupyterlab/notebook';

import { Changes, IChanged } from './changes';

const KEY = 'hermes-jupyter:changes:';

/** What was noted of this notebook before the page was reloaded; most often nothing. */
export function remembered(path: string): [string, IChanged][] {
  try {
    const noted: unknown = JSON.parse(sessionStorage.getItem(KEY + path) ?? '[]');
    return Array.isArray(noted) ? noted.filter(isEntry) : [];
  } catch (problem) {
    console.warn('hermes: what was changed before the page was reloaded', problem);
    return [];
  }
}

/** Note it whenever it changes, under the name that the notebook has then. */
export function remember(panel: NotebookPanel, changes: Changes): void {
  const { context } = panel;
  let path = context.path;
  const note = (): void => {
    try {
      sessionStorage.removeItem(KEY + path);
      path = context.path;
      if (changes.cells.size > 0) {
        sessionStorage.setItem(KEY + path, JSON.stringify(Array.from(changes.cells)));
      }
    } catch (problem) {
      console.warn('hermes: changed cells are not remembered', problem); // there is no room
    }
  };
  changes.changed.connect(note);
  context.pathChanged.connect(note);
  panel.disposed.connect(() => changes.changed.disconnect(note));
}

function isEntry(entry: unknown): entry is [string, IChanged] {
  if (!Array.isArray(entry) || typeof entry[0] !== 'string') {
    return false;
  }
  const { before, after } = Object(entry[1]) as Partial<IChanged>;
  return (typeof before === 'string' || before === null) && typeof after === 'string';
}
