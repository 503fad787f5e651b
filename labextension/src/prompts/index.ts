/**
 * Makes `%%agent` cells look and behave like the prose that they are.
 */

import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { EditorExtensionRegistry, IEditorExtensionRegistry } from '@jupyterlab/codemirror';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { DOMAIN, named } from '../names';
import { promptEditing } from './editing';

export const prompts: JupyterFrontEndPlugin<void> = {
  id: named('prompts'),
  description: 'Shows the prompts of %%agent cells as prose.',
  autoStart: true,
  requires: [IEditorExtensionRegistry],
  optional: [ITranslator],
  activate: (
    _: JupyterFrontEnd,
    extensions: IEditorExtensionRegistry,
    translator: ITranslator | null
  ) => {
    const trans = (translator ?? nullTranslator).load(DOMAIN);
    const extension = promptEditing(trans.__('Agent'), trans.__('Prompt for the agent'));
    extensions.addExtension({
      name: 'hermes-prompt',
      factory: () => EditorExtensionRegistry.createImmutableExtension(extension)
    });
  }
};
