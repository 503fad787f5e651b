/**
 * Puts the lines above the cells that the agent has changed, and takes them away.
 */

import { Cell } from '@jupyterlab/cells';
import { NotebookPanel } from '@jupyterlab/notebook';
import { TranslationBundle } from '@jupyterlab/translation';
import { PanelLayout } from '@lumino/widgets';

import { ChangeBar } from './changeBar';
import { Changes } from './changes';

/** Show the changes of a notebook, for as long as its panel is there. */
export function showChanges(
  panel: NotebookPanel,
  changes: Changes,
  trans: TranslationBundle
): void {
  const bars = new Map<Cell, ChangeBar>();
  const make = (cell: Cell): ChangeBar => new ChangeBar(cell.model.id, changes, trans);
  const update = (): void => {
    const cells = new Set(
      panel.content.widgets.filter(({ model }) => changes.cells.has(model.id))
    );
    for (const [cell, bar] of bars) {
      if (!cells.has(cell)) {
        bar.dispose();
        bars.delete(cell);
      }
    }
    cells.forEach(cell => {
      const bar = bars.get(cell) ?? make(cell);
      if (!bars.has(cell)) {
        bars.set(cell, bar);
        // A cell that is out of sight is laid out when it comes into sight.
        void cell.ready.then(() => {
          if (!bar.isDisposed && !cell.isDisposed) {
            (cell.layout as PanelLayout).insertWidget(0, bar);
          }
        });
      }
      bar.update();
    });
  };
  changes.changed.connect(update);
  const { model } = panel.content;
  model?.contentChanged.connect(() => {
    if (changes.cells.size > 0 || bars.size > 0) {
      update();
    }
  });
  panel.disposed.connect(() => changes.changed.disconnect(update));
}
