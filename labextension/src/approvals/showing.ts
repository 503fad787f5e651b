/**
 * Finds the cell that something is about, and shows it.
 */

import { JupyterFrontEnd } from '@jupyterlab/application';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

import { IAgents } from '../agents/agents';

/** The open notebook of a kernel; the one with the cell, if several share it. */
export function notebookOf(
  tracker: INotebookTracker,
  kernel: string,
  cell: string
): NotebookPanel | undefined {
  const open = tracker.filter(
    ({ sessionContext }) => sessionContext.session?.kernel?.id === kernel
  );
  return open.find(panel => indexOf(panel, cell) >= 0) ?? open[0];
}

/** Show a cell; its notebook is opened if it is not open. */
export async function showCell(
  app: JupyterFrontEnd,
  tracker: INotebookTracker,
  agents: IAgents,
  kernel: string,
  cell: string
): Promise<void> {
  const path = agents.kernels.find(each => each.kernel === kernel)?.path ?? '';
  const panel =
    notebookOf(tracker, kernel, cell) ??
    (path && app.commands.hasCommand('docmanager:open')
      ? ((await app.commands.execute('docmanager:open', { path })) as
          NotebookPanel | undefined)
      : undefined);
  if (panel === undefined) {
    return;
  }
  app.shell.activateById(panel.id);
  await panel.context.ready;
  const index = indexOf(panel, cell);
  if (index >= 0) {
    panel.content.activeCellIndex = index;
    await panel.content.scrollToItem(index, 'smart');
  }
}

function indexOf(panel: NotebookPanel, cell: string): number {
  return Array.from(panel.content.model?.cells ?? []).findIndex(({ id }) => id === cell);
}
