/**
 * Asks the agent from a notebook: commands, buttons of cells, and what runs now in the toolbar.
 */

import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import {
  ICommandPalette,
  ISessionContextDialogs,
  IToolbarWidgetRegistry
} from '@jupyterlab/apputils';
import { isCodeCellModel } from '@jupyterlab/cells';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';

import { IAgents } from '../agents';
import { IChoices } from '../choices';
import { CATEGORY, CommandIDs } from '../commands';
import { fixIcon, promptIcon } from '../icons';
import { DOMAIN, named } from '../names';
import { askBelow, canBeFixed, fixCell } from './cells';
import { tellEndings } from './endings';
import { FixButtons } from './fixButton';
import { isPython, load, runsIn } from './kernel';
import { RunningTurn, stopAll, turnsOf } from './runningTurn';

/** As in the schema of this plugin. */
const TOOLBAR_ITEM = 'hermes-running-turn';
const NO_ARGUMENTS = { args: { type: 'object', properties: {} } } as const;

export const notebook: JupyterFrontEndPlugin<void> = {
  id: named('notebook'),
  description: 'Asks the agent from a notebook, and shows that it works.',
  autoStart: true,
  requires: [IAgents, INotebookTracker],
  optional: [
    ITranslator,
    ICommandPalette,
    IToolbarWidgetRegistry,
    ISessionContextDialogs,
    IChoices
  ],
  activate: (
    { commands }: JupyterFrontEnd,
    agents: IAgents,
    tracker: INotebookTracker,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    toolbars: IToolbarWidgetRegistry | null,
    dialogs: ISessionContextDialogs | null,
    choices: IChoices | null
  ) => {
    const trans = (translator ?? nullTranslator).load(DOMAIN);
    /** The notebook in front, if the agent can be asked in it. */
    const asks = (): NotebookPanel | null => {
      const panel = tracker.currentWidget;
      const isOpen = panel?.content.model?.readOnly === false;
      return panel !== null && isOpen && isPython(panel) ? panel : null;
    };
    const fixes = (): NotebookPanel | null =>
      canBeFixed(tracker.activeCell) ? asks() : null;
    commands.addCommand(CommandIDs.askBelow, {
      label: trans.__('Ask the Agent'),
      caption: trans.__('Put a cell for a prompt below this one'),
      icon: promptIcon,
      isEnabled: () => asks() !== null,
      isVisible: () => asks() !== null,
      describedBy: NO_ARGUMENTS,
      execute: async () => {
        const panel = asks();
        if (panel === null) {
          return;
        }
        const kernel = panel.sessionContext.session?.kernel;
        if (kernel) {
          void load(kernel, trans);
        }
        await askBelow(panel.content);
      }
    });
    const fix = {
      label: trans.__('Fix With the Agent'),
      caption: trans.__('Have the agent look why this cell failed')
    };
    commands.addCommand(CommandIDs.fixCell, {
      ...fix,
      icon: fixIcon,
      isEnabled: () => fixes() !== null,
      isVisible: () => fixes() !== null,
      describedBy: NO_ARGUMENTS,
      execute: async () => {
        const panel = fixes();
        if (panel !== null) {
          await fixCell(panel, runsIn(panel, dialogs, trans));
        }
      }
    });
    commands.addCommand(CommandIDs.stopTurn, {
      label: trans.__('Stop the Agent'),
      caption: trans.__('End what the agent does in this notebook'),
      isEnabled: () => turnsOf(agents, tracker.currentWidget).length > 0,
      describedBy: NO_ARGUMENTS,
      execute: async () => {
        const panel = tracker.currentWidget;
        if (panel !== null) {
          await stopAll(agents, panel);
        }
      }
    });
    const ids = [CommandIDs.askBelow, CommandIDs.fixCell, CommandIDs.stopTurn];
    ids.forEach(command => palette?.addItem({ command, category: CATEGORY }));
    followFailures(tracker, commands);
    const look = (): void => ids.forEach(id => commands.notifyCommandChanged(id));
    tracker.currentChanged.connect(look);
    agents.changed.connect(() => commands.notifyCommandChanged(CommandIDs.stopTurn));
    const offer = (panel: NotebookPanel): void => {
      offerFixes(panel, fix, commands, choices);
      tellEndings(panel, trans);
      void panel.context.ready.then(look); // now it says its language
    };
    tracker.forEach(offer);
    tracker.widgetAdded.connect((_, panel) => offer(panel));
    toolbars?.addFactory<NotebookPanel>(
      'Notebook',
      TOOLBAR_ITEM,
      panel => new RunningTurn(agents, panel, trans)
    );
  }
};

/** The button that fixes is there as long as the active cell shows a failure. */
function followFailures(tracker: INotebookTracker, commands: CommandRegistry): void {
  const look = (): void => commands.notifyCommandChanged(CommandIDs.fixCell);
  let leave = (): void => undefined;
  tracker.activeCellChanged.connect((_, cell) => {
    leave();
    leave = () => undefined;
    if (cell !== null && isCodeCellModel(cell.model)) {
      const { outputs } = cell.model;
      outputs.changed.connect(look);
      leave = () => outputs.changed.disconnect(look);
    }
    look();
  });
}

/** Have a button stand under each error of a notebook, as long as the person wants that. */
function offerFixes(
  panel: NotebookPanel,
  words: { label: string; caption: string },
  commands: CommandRegistry,
  choices: IChoices | null
): void {
  const { content } = panel;
  const buttons = new FixButtons(content, words, cell => {
    content.deselectAll();
    content.activeCellIndex = content.widgets.indexOf(cell);
    void commands.execute(CommandIDs.fixCell);
  });
  const choose = (): void => {
    buttons.isOffered = choices?.offersFixes !== false && isPython(panel);
  };
  choices?.changed.connect(choose);
  panel.disposed.connect(() => choices?.changed.disconnect(choose));
  void panel.context.ready.then(choose);
}
