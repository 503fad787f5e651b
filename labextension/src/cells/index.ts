/**
 * The kernel's requests about cells, answered by each open notebook for itself.
 */

import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import {
  INotebookModel,
  INotebookTracker,
  NotebookActions,
  NotebookPanel
} from '@jupyterlab/notebook';
import { ITranslator, nullTranslator, TranslationBundle } from '@jupyterlab/translation';

import { IChoices } from '../choices';
import { DOMAIN, named } from '../names';
import { showChanges } from './bars';
import { Changes } from './changes';
import { CellEditor } from './editor';
import { remember, remembered } from './keeping';
import { CellsPage } from './page';
import { Refusal } from './protocol';
import { tellSettings } from './settings';
import { IUndoManager, UndoSteps } from './undoSteps';

/** By model: two views of a notebook share them. */
const shared = new WeakMap<INotebookModel, IShared>();

interface IShared {
  steps: UndoSteps;
  changes: Changes;
}

export const cells: JupyterFrontEndPlugin<void> = {
  id: named('cells'),
  description:
    'Lets the agent read and change the cells of the notebook that it was asked in.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ITranslator, IChoices],
  activate: (
    _: JupyterFrontEnd,
    tracker: INotebookTracker,
    translator: ITranslator | null,
    choices: IChoices | null
  ) => {
    const trans = (translator ?? nullTranslator).load(DOMAIN);
    const watch = (panel: NotebookPanel): void => serve(panel, trans, choices);
    tracker.forEach(watch);
    tracker.widgetAdded.connect((_, panel) => watch(panel));
  }
};

function serve(
  panel: NotebookPanel,
  trans: TranslationBundle,
  choices: IChoices | null
): void {
  let editor: CellEditor | null = null;
  const edit = (model: INotebookModel): CellEditor => {
    const { steps, changes } = sharedOf(model);
    const made = new CellEditor(model, steps, (from, to) =>
      NotebookActions.moveCells(panel.content, from, to)
    );
    made.changed.connect((_, change) => changes.note(change));
    showChanges(panel, changes, trans);
    remember(panel, changes);
    return made;
  };
  void panel.context.ready.then(() => {
    const { model } = panel.content;
    const entries = remembered(panel.context.path);
    if (model !== null && entries.length > 0 && !panel.isDisposed) {
      editor ??= edit(model);
      sharedOf(model).changes.restore(entries);
    }
  });
  const page = new CellsPage(panel, request => {
    const { model } = panel.content;
    if (model === null || panel.isDisposed) {
      throw new Refusal('closed', 'the notebook was closed');
    }
    editor ??= edit(model);
    return editor.answer(request);
  });
  panel.disposed.connect(() => page.dispose());
  tellSettings(panel, page, choices);
}

function sharedOf(model: INotebookModel): IShared {
  let found = shared.get(model);
  if (found === undefined) {
    // The interface of shared models does not tell of it; all that JupyterLab makes have it.
    const { undoManager } = model.sharedModel as unknown as { undoManager: IUndoManager };
    const steps = new UndoSteps(undoManager);
    found = { steps, changes: new Changes(model, steps) };
    shared.set(model, found);
  }
  return found;
}
