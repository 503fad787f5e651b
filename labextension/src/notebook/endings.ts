/**
 * What is left of a running turn when its kernel has ended: its widgets answer nobody any more, so
 * a line that says how to go on stands in their place.
 */

import { ISessionContext } from '@jupyterlab/apputils';
import { ICodeCellModel, isCodeCellModel } from '@jupyterlab/cells';
import { NotebookPanel } from '@jupyterlab/notebook';
import { IOutputModel } from '@jupyterlab/rendermime';
import { Kernel } from '@jupyterlab/services';
import { TranslationBundle } from '@jupyterlab/translation';
import { JSONValue } from '@lumino/coreutils';

import { object } from '../agents/protocol';

const WIDGET = 'application/vnd.jupyter.widget-view+json';
const COMMS = 'jupyter.widget';
const GONE: Kernel.Status[] = ['restarting', 'autorestarting', 'dead', 'terminating'];

/** An output that only its kernel keeps. */
interface ILive {
  outputs: ICodeCellModel['outputs'];
  place: number;
  widget: string;
}

/** Tell it below the cells of a notebook, also of one that was saved while a turn ran. */
export function tellEndings(panel: NotebookPanel, trans: TranslationBundle): void {
  const { sessionContext, context } = panel;
  const end = (): void => liveIn(panel).forEach(each => tell(each, trans));
  const notice = (_: ISessionContext, status: Kernel.Status): void => {
    if (GONE.includes(status)) {
      end();
    }
  };
  sessionContext.statusChanged.connect(notice);
  sessionContext.kernelChanged.connect((_, { oldValue }) => {
    if (oldValue !== null) {
      end();
    }
  });
  void Promise.all([context.ready, sessionContext.ready]).then(async () => {
    if (liveIn(panel).length > 0) {
      const kept = await widgetsOf(sessionContext.session?.kernel ?? null);
      liveIn(panel)
        .filter(({ widget }) => !kept.has(widget))
        .forEach(each => tell(each, trans));
    }
  });
}

/** Those that a kernel keeps; one that is busy may tell later. */
async function widgetsOf(kernel: Kernel.IKernelConnection | null): Promise<Set<string>> {
  const reply = await kernel?.requestCommInfo({ target_name: COMMS });
  return new Set(reply?.content.status === 'ok' ? Object.keys(reply.content.comms) : []);
}

function liveIn({ content, isDisposed }: NotebookPanel): ILive[] {
  const found: ILive[] = [];
  if (isDisposed || content.model === null || content.model.readOnly) {
    return found;
  }
  for (const cell of content.model.cells) {
    if (isCodeCellModel(cell)) {
      const { outputs } = cell;
      for (let place = 0; place < outputs.length; place++) {
        const widget = widgetOf(outputs.get(place));
        if (widget !== null) {
          found.push({ outputs, place, widget });
        }
      }
    }
  }
  return found;
}

/** The widget of a turn, if an output is marked by the kernel as one. */
function widgetOf({ data, metadata }: IOutputModel): string | null {
  const isLive = object(metadata.hermes as JSONValue | undefined).live === true;
  const { model_id } = object(data[WIDGET] as JSONValue | undefined);
  return isLive && typeof model_id === 'string' ? model_id : null;
}

function tell({ outputs, place }: ILive, trans: TranslationBundle): void {
  const why = trans.__('The kernel ended while the agent worked here.');
  const how = trans.__('What was done is stored; to go on with the turn, run:');
  const command = '%hermes continue';
  outputs.set(place, {
    output_type: 'display_data',
    data: {
      'text/html': `<p>${why} ${how} <code>${command}</code></p>`,
      'text/plain': `${why} ${how} ${command}`
    },
    metadata: {}
  });
}
