/**
 * One step of undo for all that one turn changes, in the notebook's own undo.
 */

/** What we use of the undo manager of a shared model. */
export interface IUndoManager {
  undoStack: object[];
  captureTimeout: number;
  lastChange: number;
  stopCapturing(): void;
}

/** The steps of one notebook. */
export class UndoSteps {
  constructor(private readonly manager: IUndoManager) {}

  /**
   * Make a change. It joins the turn's earlier ones, unless something else was changed since:
   * that has to be taken back first, or one undo would undo another's work.
   */
  change<T>(turn: string, make: () => T): T {
    const { manager } = this;
    const timeout = manager.captureTimeout;
    const before = manager.undoStack.at(-1);
    const joins = before !== undefined && before === this.step && turn === this.turn;
    if (joins) {
      manager.captureTimeout = Number.POSITIVE_INFINITY;
      manager.lastChange = Date.now();
    } else {
      manager.stopCapturing();
    }
    try {
      return make();
    } finally {
      manager.captureTimeout = timeout;
      manager.stopCapturing();
      const now = manager.undoStack.at(-1);
      this.turn = turn;
      this.step = joins || now !== before ? now : undefined;
    }
  }

  private turn = '';
  private step: object | undefined;
}
