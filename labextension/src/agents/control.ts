/**
 * Requests over a kernel's control channel: they land while its main thread is stuck.
 */

import { Kernel, KernelMessage } from '@jupyterlab/services';
import { JSONObject } from '@lumino/coreutils';

import { object, PROTOCOL, REQUEST, text } from './protocol';

/** How long a kernel without the extension, which says nothing, is waited for, in ms. */
const PATIENCE = 3_000;

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
 * Ask a kernel.
 *
 * @throws Declined
 */
export async function request(
  kernel: Kernel.IKernelConnection,
  content: JSONObject
): Promise<JSONObject> {
  const reply = object(await answer(kernel, { protocol: PROTOCOL, ...content }));
  if (reply.status !== 'ok') {
    throw new Declined(text(reply.ename) || 'failed', text(reply.evalue));
  }
  return reply;
}

function answer(
  kernel: Kernel.IKernelConnection,
  content: JSONObject
): Promise<JSONObject> {
  const message = KernelMessage.createMessage({
    msgType: REQUEST,
    channel: 'control',
    session: kernel.clientId,
    username: kernel.username,
    content
    // The type knows only the messages of Jupyter itself.
  } as unknown as KernelMessage.IOptions<KernelMessage.IDebugRequestMsg>);
  return new Promise((resolve, reject) => {
    const future = kernel.sendControlMessage(message, true, false);
    const end = (): void => {
      window.clearTimeout(timer);
      future.dispose();
    };
    const timer = window.setTimeout(() => {
      end();
      reject(new Declined('silent', ''));
    }, PATIENCE);
    future.done.catch(() => {
      end();
      reject(new Declined('silent', ''));
    });
    future.onReply = reply => {
      resolve(reply.content as unknown as JSONObject);
      end();
    };
  });
}
