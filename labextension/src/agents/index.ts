/**
 * Keeps in mind what the agents of all kernels do; other plugins show it.
 */

import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

import { named } from '../names';
import { Agents, IAgents } from './agents';
import { Kernels } from './kernels';
import { ServerLine } from './server';

export { IAgents };

export const agents: JupyterFrontEndPlugin<IAgents> = {
  id: named('agents'),
  description: 'Knows what the agents of all kernels do and ask.',
  autoStart: true,
  provides: IAgents,
  optional: [INotebookTracker],
  activate: ({ serviceManager }: JupyterFrontEnd, tracker: INotebookTracker | null) => {
    const kernels = new Kernels(new ServerLine(serviceManager.serverSettings));
    const agents = new Agents(kernels, serviceManager.sessions);
    const listen = ({ sessionContext }: NotebookPanel): void => {
      const use = (): void => {
        const kernel = sessionContext.session?.kernel;
        if (kernel) {
          kernels.use(kernel);
        }
      };
      sessionContext.kernelChanged.connect(use);
      use();
    };
    tracker?.forEach(listen);
    tracker?.widgetAdded.connect((_, panel) => listen(panel));
    return agents;
  }
};
