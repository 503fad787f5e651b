/**
 * What agents ask is shown in a side panel and in the status bar, and can be answered there.
 */

import {
  ILabShell,
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { IAgents } from '../agents';
import { CATEGORY, CommandIDs } from '../commands';
import { DOMAIN, named } from '../names';
import { giveNotices } from './notices';
import { ApprovalsPanel } from './panel';
import { notebookOf, showCell } from './showing';
import { WaitingStatus } from './status';
import { countInTitle } from './title';

export const approvals: JupyterFrontEndPlugin<void> = {
  id: named('approvals'),
  description: 'Shows what agents ask, in all kernels, and brings them your answer.',
  autoStart: true,
  requires: [IAgents, INotebookTracker],
  optional: [ITranslator, ICommandPalette, IStatusBar, ILayoutRestorer, ILabShell],
  activate: (
    app: JupyterFrontEnd,
    agents: IAgents,
    tracker: INotebookTracker,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    statusBar: IStatusBar | null,
    restorer: ILayoutRestorer | null,
    labShell: ILabShell | null
  ) => {
    const translates = translator ?? nullTranslator;
    const trans = translates.load(DOMAIN);
    const panel = new ApprovalsPanel(
      agents,
      translates,
      (kernel, cell) => void showCell(app, tracker, agents, kernel, cell),
      () => app.shell.currentWidget?.activate()
    );
    app.shell.add(panel, 'right', { rank: 500 });
    restorer?.add(panel, panel.id);
    const show = (): void => {
      app.shell.activateById(panel.id);
      panel.enter();
    };
    app.commands.addCommand(CommandIDs.showApprovals, {
      label: trans.__('Show What Agents Ask'),
      describedBy: { args: { type: 'object', properties: {} } },
      execute: show
    });
    palette?.addItem({ command: CommandIDs.showApprovals, category: CATEGORY });
    const status = new WaitingStatus(agents, translates, show);
    if (statusBar) {
      statusBar.registerStatusItem(named('status'), {
        item: status,
        align: 'right',
        rank: 50,
        priority: 1 // a narrow window hides those without
      });
    } else {
      app.shell.add(status, labShell ? 'top' : 'menu', { rank: 10_000 });
    }
    countInTitle(agents);
    giveNotices({
      agents,
      trans,
      show,
      isSeen: ({ kernel, waiting }) => {
        const asking = notebookOf(tracker, kernel, waiting.cell);
        return (
          panel.isVisible || (asking !== undefined && asking === app.shell.currentWidget)
        );
      }
    });
  }
};
