/**
 * What JupyterLab and Notebook load: the list of our plugins. Each is a folder of its own.
 */

import { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { agents } from './agents';
import { approvals } from './approvals';
import { cells } from './cells';
import { choices } from './choices';
import { notebook } from './notebook';
import { prompts } from './prompts';
import { renderer } from './renderer';

const plugins: JupyterFrontEndPlugin<unknown>[] = [
  agents,
  approvals,
  cells,
  choices,
  notebook,
  prompts,
  renderer
];

export default plugins;
