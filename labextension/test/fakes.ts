/**
 * Connections to kernels that are none.
 */

import { Kernel } from '@jupyterlab/services';
import { JSONObject } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';

type Answer = (content: JSONObject) => JSONObject | null;

/** Answers what is asked over the control channel, in the order in which it was asked. */
export class FakeKernel {
  constructor(
    readonly id: string,
    readonly features: string[] | undefined,
    readonly answer: Answer = () => null
  ) {}

  readonly clientId = 'page';
  readonly username = 'anne';
  readonly iopubMessage = new Signal<this, unknown>(this);
  readonly statusChanged = new Signal<this, Kernel.Status>(this);
  readonly connectionStatusChanged = new Signal<this, Kernel.ConnectionStatus>(this);
  readonly disposed = new Signal<this, void>(this);
  connectionStatus: Kernel.ConnectionStatus = 'connected';
  /** What it was asked, as types of messages and what they ask to do. */
  readonly asked: string[] = [];

  spec: Promise<{ language: string } | undefined> = Promise.resolve({ language: 'Python' });
  /** The types of messages that went to its shell. */
  readonly sent: string[] = [];

  /** As a connection of JupyterLab. */
  get connection(): Kernel.IKernelConnection {
    return this as unknown as Kernel.IKernelConnection;
  }

  sendControlMessage(message: {
    header: { msg_type: string };
    content: JSONObject;
  }): unknown {
    const { header, content } = message;
    this.asked.push(`${header.msg_type} ${content.do ?? ''}`.trim());
    const reply =
      header.msg_type === 'kernel_info_request'
        ? { status: 'ok', supported_features: this.features }
        : this.answer(content);
    const future = {
      done: new Promise(() => undefined),
      dispose: () => undefined,
      onReply: null as ((reply: unknown) => void) | null
    };
    if (reply !== null) {
      queueMicrotask(() => future.onReply?.({ content: reply }));
    }
    return future;
  }

  sendShellMessage({ header }: { header: { msg_type: string } }): void {
    this.sent.push(header.msg_type);
  }

  tell(event: JSONObject): void {
    this.iopubMessage.emit({ header: { msg_type: 'hermes_event' }, content: event });
  }

  connect(status: Kernel.ConnectionStatus): void {
    this.connectionStatus = status;
    this.connectionStatusChanged.emit(status);
  }
}

/** After all that was asked has been answered. */
export async function settled(): Promise<void> {
  await new Promise(resolve => setTimeout(resolve));
}
