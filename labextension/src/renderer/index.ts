/**
 * Draws the record that a turn leaves below its cell.
 */

import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { named } from '../names';
import { MIME_TYPE } from './turn';
import { RenderedTurn } from './widget';

/** Before HTML, which is 50 and holds the same; behind live widgets. */
const RANK = 40;

export const renderer: JupyterFrontEndPlugin<void> = {
  id: named('renderer'),
  description: 'Draws the record of a turn.',
  autoStart: true,
  requires: [IRenderMimeRegistry],
  optional: [INotebookTracker, ITranslator],
  activate: (
    _: JupyterFrontEnd,
    rendermime: IRenderMimeRegistry,
    tracker: INotebookTracker | null,
    translator: ITranslator | null
  ) => {
    const surroundings = { rendermime, tracker, translator: translator ?? nullTranslator };
    rendermime.addFactory(
      {
        safe: true,
        mimeTypes: [MIME_TYPE],
        createRenderer: options => new RenderedTurn(surroundings, options)
      },
      RANK
    );
  }
};
