/**
 * Asks the agent from a notebook: commands, buttons of cells, and what runs now in the toolbar.
 */

import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, IToolbarWidgetRegistry } from '@jupyterlab/apputils';
import { isCodeCellModel } from '@jupyterlab/cells';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';

import { IAgents } from '../agents';
import { CATEGORY, CommandIDs } from '../commands';
import { fixIcon, promptIcon } from '../icons';
import { DOMAIN, named } from '../names';
import { askBelow, Defaults, fixCell, hasFailed } from './cells';
import { RunningTurn, stopAll } from './runningTurn';

const ID = named('notebook');
/** As in the schema of this plugin. */
const TOOLBAR_ITEM = 'hermes-running-turn';
const NO_ARGUMENTS = { args: { type: 'object', properties: {} } } as const;

export const notebook: JupyterFrontEndPlugin<void> = {
  id: ID,
  description: 'Asks the agent from a notebook, and shows that it works.',
  autoStart: true,
  requires: [IAgents, INotebookTracker],
  optional: [ITranslator, ICommandPalette, IToolbarWidgetRegistry, ISettingRegistry],
  activate: (
    { commands }: JupyterFrontEnd,
    agents: IAgents,
    tracker: INotebookTracker,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    toolbars: IToolbarWidgetRegistry | null,
    settings: ISettingRegistry | null
  ) => {
    const trans = (translator ?? nullTranslator).load(DOMAIN);
    const panel = (): NotebookPanel | null => tracker.currentWidget;
    commands.addCommand(CommandIDs.askBelow, {
      label: trans.__('Ask the Agent'),
      caption: trans.__('Put a cell for a prompt below this one'),
      icon: promptIcon,
      isEnabled: () => panel() !== null,
      describedBy: NO_ARGUMENTS,
      execute: async () => {
        const defaults = await defaultsIn(settings);
        const current = panel();
        if (current !== null) {
          await askBelow(current.content, defaults);
        }
      }
    });
    commands.addCommand(CommandIDs.fixCell, {
      label: trans.__('Fix With the Agent'),
      caption: trans.__('Have the agent look why this cell failed'),
      icon: fixIcon,
      isEnabled: () => hasFailed(tracker.activeCell),
      isVisible: () => hasFailed(tracker.activeCell),
      describedBy: NO_ARGUMENTS,
      execute: async () => {
        const current = panel();
        if (current !== null) {
          await fixCell(current);
        }
      }
    });
    commands.addCommand(CommandIDs.stopTurn, {
      label: trans.__('Stop the Agent'),
      isEnabled: () => panel() !== null,
      describedBy: NO_ARGUMENTS,
      execute: async () => {
        const current = panel();
        if (current !== null) {
          await stopAll(agents, current);
        }
      }
    });
    [CommandIDs.askBelow, CommandIDs.fixCell, CommandIDs.stopTurn].forEach(command =>
      palette?.addItem({ command, category: CATEGORY })
    );
    followFailures(tracker, commands);
    toolbars?.addFactory<NotebookPanel>(
      'Notebook',
      TOOLBAR_ITEM,
      panel => new RunningTurn(agents, panel, trans)
    );
  }
};

/** What a new cell begins with: what the user has set, and nothing else. */
async function defaultsIn(settings: ISettingRegistry | null): Promise<Defaults> {
  if (settings === null) {
    return {};
  }
  const { composite } = await settings.load(ID);
  const names = ['model', 'mode', 'tools', 'max_steps', 'max_tokens', 'max_cost'];
  return Object.fromEntries(names.map(name => [name, composite[name]]).filter(set));
}

function set([, value]: unknown[]): boolean {
  return value !== undefined && value !== '' && value !== 0;
}

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
