/**
 * The kernel of a notebook, made ready for the agent.
 */

import { ISessionContextDialogs, Notification } from '@jupyterlab/apputils';
import { NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { Kernel } from '@jupyterlab/services';
import { TranslationBundle } from '@jupyterlab/translation';

const LOAD = '%load_ext hermes_jupyter';

/** Runs cells of one notebook that ask the agent. */
export interface IRuns {
  /** Have a kernel that knows the agent; false if the person wants none. */
  ready(): Promise<boolean>;
  /** Run the active cell. */
  run(): Promise<unknown>;
}

export function runsIn(
  { content, sessionContext }: NotebookPanel,
  dialogs: ISessionContextDialogs | null,
  trans: TranslationBundle
): IRuns {
  return {
    ready: async () => {
      if (sessionContext.hasNoKernel && (await sessionContext.startKernel())) {
        await dialogs?.selectKernel(sessionContext);
      }
      const kernel = sessionContext.session?.kernel ?? null;
      if (kernel !== null) {
        void load(kernel, trans); // what is run after it is behind it
      }
      return kernel !== null;
    },
    run: () => NotebookActions.run(content, sessionContext, dialogs ?? undefined)
  };
}

/** Whether the code of a notebook is Python, as far as it says. */
export function isPython({ content: { model } }: NotebookPanel): boolean {
  const language =
    model?.getMetadata('language_info')?.name ?? model?.getMetadata('kernelspec')?.language;
  return [undefined, '', 'python'].includes(language as string | undefined);
}

/** Have the kernel know the agent. Nothing changes where it does. */
export async function load(
  kernel: Kernel.IKernelConnection,
  trans: TranslationBundle
): Promise<void> {
  const content = { code: LOAD, silent: true, store_history: false, stop_on_error: false };
  try {
    const reply = await kernel.requestExecute(content).done;
    if (reply?.content.status === 'error') {
      Notification.warning(
        trans.__(
          'This kernel does not have the agent (%1). Install hermes-jupyter where it runs.',
          reply.content.evalue
        )
      );
    }
  } catch (gone) {
    console.warn('hermes: the kernel ended meanwhile', gone);
  }
}
