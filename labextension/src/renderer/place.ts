/**
 * The cell in which a record is shown, and what can be done beside it.
 */

import { INotebookTracker, NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { KernelMessage } from '@jupyterlab/services';

/** What `%%agent` cells begin with. */
const AGENT = /^\s*%%agent\b/;
/** Ids that cannot be anything else in a line of Python. */
const TURN_ID = /^[0-9a-zA-Z-]{4,64}$/;

export class Place {
  constructor(tracker: INotebookTracker | null, node: HTMLElement) {
    this._panel = tracker?.find(panel => panel.content.node.contains(node)) ?? null;
    this._node = node;
  }

  get panel(): NotebookPanel | null {
    return this._panel;
  }

  /** Whether a prompt stands above the record that can be asked again. */
  get asks(): boolean {
    return this._panel !== null && AGENT.test(this._source());
  }

  /** Whether a kernel can be asked for the turn's cells. */
  get ejects(): boolean {
    return (
      this._number() >= 0 && (this._panel?.sessionContext.session?.kernel ?? null) !== null
    );
  }

  /** Put the prompt in a new cell below, where a person may change it before it is run. */
  askAgain(): void {
    const prompt = this._source();
    this._insertBelow(prompt, prompt.length);
  }

  /**
   * Put the code of the turn in a new cell below. Nothing is run but the kernel's own `eject`.
   *
   * @returns What went wrong, as far as the kernel says it; null if nothing did.
   */
  async eject(turn: string): Promise<string | null> {
    const kernel = this._panel?.sessionContext.session?.kernel;
    if (!kernel || !TURN_ID.test(turn)) {
      return '';
    }
    const code = `%load_ext hermes_jupyter\n%hermes eject ${turn}`;
    const done = await kernel.requestExecute({ code, store_history: false }).done;
    const { content } = done as KernelMessage.IExecuteReplyMsg;
    if (content.status !== 'ok') {
      return content.status === 'error' ? content.evalue : content.status;
    }
    const next = (content.payload ?? []).find(({ source }) => source === 'set_next_input');
    if (next === undefined) {
      return '';
    }
    this._insertBelow(String(next.text), 0);
    return null;
  }

  /** A new cell with this text, and the cursor before its character of this number. */
  private _insertBelow(source: string, cursor: number): void {
    const number = this._number();
    if (this._panel === null || number < 0) {
      return;
    }
    const { content } = this._panel;
    content.activeCellIndex = number;
    NotebookActions.insertBelow(content);
    const { activeCell } = content;
    activeCell?.model.sharedModel.setSource(source);
    void activeCell?.ready.then(() => {
      content.mode = 'edit';
      const { editor } = activeCell;
      const place = editor?.getPositionAt(cursor);
      if (place) {
        editor?.setCursorPosition(place);
      }
    });
  }

  private _source(): string {
    const cell = this._panel?.content.widgets[this._number()];
    return cell?.model.sharedModel.getSource() ?? '';
  }

  private _number(): number {
    const cells = this._panel?.content.widgets ?? [];
    return cells.findIndex(cell => cell.node.contains(this._node));
  }

  private readonly _panel: NotebookPanel | null;
  private readonly _node: HTMLElement;
}
