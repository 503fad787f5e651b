/**
 * Requests over a kernel's control channel: they land while its main thread is stuck.
 */

import { Kernel, KernelMessage } from '@jupyterlab/services';
import { JSONObject } from '@lumino/coreutils';

import { object, PROTOCOL, REQUEST, text } from './protocol';

/** How long a kernel that hangs is waited for, in ms. */
const PATIENCE = 3_000;
const PYTHON = 'python';
const INFO_REQUEST = 'kernel_info_request';
/** What a kernel with the extension lists in its info. */
const FEATURE = 'hermes agents';

/** The kernel did not do it. */
export class Declined extends Error {
  /**
   * @param code - one of docs/control-protocol.md, or `silent`: there was no answer
   */
  constructor(
    readonly code: string,
    message: string
  ) {
    super(message);
  }
}

/**
 * Has the kernel loaded the extension? Others must not be asked anything else: they complain of
 * it in their logs. A kernel for Python may be asked for its info, and one that hangs is waited
 * for; some for other languages complain of all that comes this way.
 */
export async function speaks(kernel: Kernel.IKernelConnection): Promise<boolean> {
  if (!(await isForPython(kernel))) {
    return false;
  }
  try {
    const { supported_features } = await exchange(kernel, INFO_REQUEST, {}, null);
    return Array.isArray(supported_features) && supported_features.includes(FEATURE);
  } catch (problem) {
    if (problem instanceof Declined) {
      return false; // the connection or the kernel has ended
    }
    throw problem;
  }
}

async function isForPython({ spec }: Kernel.IKernelConnection): Promise<boolean> {
  const language = await spec.then(
    told => told?.language,
    () => undefined // the server does not say
  );
  return (language ?? PYTHON).toLowerCase() === PYTHON;
}

/**
 * Ask a kernel that has loaded the extension.
 *
 * @param patience - for how long its answer is waited for, in ms; null: until it is gone
 * @throws Declined
 */
export async function request(
  kernel: Kernel.IKernelConnection,
  content: JSONObject,
  patience: number | null = PATIENCE
): Promise<JSONObject> {
  const asked = { protocol: PROTOCOL, ...content };
  const reply = await exchange(kernel, REQUEST, asked, patience);
  if (reply.status !== 'ok') {
    throw new Declined(text(reply.ename) || 'failed', text(reply.evalue));
  }
  return reply;
}

function exchange(
  kernel: Kernel.IKernelConnection,
  msgType: string,
  content: JSONObject,
  patience: number | null
): Promise<JSONObject> {
  const message = KernelMessage.createMessage({
    msgType,
    channel: 'control',
    session: kernel.clientId,
    username: kernel.username,
    content
    // The type knows only the messages of Jupyter itself.
  } as unknown as KernelMessage.IOptions<KernelMessage.IDebugRequestMsg>);
  return new Promise((resolve, reject) => {
    const silent = (): void => reject(new Declined('silent', ''));
    let timer = 0;
    let future: ReturnType<typeof kernel.sendControlMessage>;
    try {
      future = kernel.sendControlMessage(message, true, false);
    } catch {
      silent(); // it is dead, or not connected
      return;
    }
    const end = (): void => {
      window.clearTimeout(timer);
      future.dispose();
    };
    if (patience !== null) {
      timer = window.setTimeout(() => {
        end();
        silent();
      }, patience);
    }
    future.done.catch(() => {
      end();
      silent();
    });
    future.onReply = reply => {
      resolve(object(reply.content as unknown as JSONObject));
      end();
    };
  });
}
