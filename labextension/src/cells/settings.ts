/**
 * Tells the kernel what the person has set, before each cell that asks the agent.
 */

import { Cell } from '@jupyterlab/cells';
import { Notebook, NotebookActions, NotebookPanel } from '@jupyterlab/notebook';

import { IChoices } from '../choices';
import { CellsPage } from './page';

/** Cells that begin a turn; of the first, other extensions may have one, too. */
const ASKS = /^\s*%%agent(?!\S)/;
const ASKS_US = /^\s*%hermes(?!\S)/m;
const LOADS = /hermes_jupyter/;

/** Keep the kernel of a page informed, for as long as its panel is there. */
export function tellSettings(
  panel: NotebookPanel,
  page: CellsPage,
  choices: IChoices | null
): void {
  if (choices === null) {
    return;
  }
  const tell = (): void => page.set(choices.current);
  // The cell that loads the extension may have been sent a moment ago, and not run yet.
  const runs = (
    _: unknown,
    { notebook, cell }: { notebook: Notebook; cell: Cell }
  ): void => {
    if (notebook === panel.content && asks(panel, cell.model.sharedModel.getSource())) {
      page.openForSure();
    }
  };
  tell();
  choices.changed.connect(tell);
  NotebookActions.executionScheduled.connect(runs);
  panel.disposed.connect(() => {
    choices.changed.disconnect(tell);
    NotebookActions.executionScheduled.disconnect(runs);
  });
}

function asks({ content }: NotebookPanel, source: string): boolean {
  const cells = Array.from(content.model?.cells ?? []);
  return (
    ASKS_US.test(source) ||
    (ASKS.test(source) && cells.some(each => LOADS.test(each.sharedModel.getSource())))
  );
}
