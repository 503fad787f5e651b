/**
 * Ids of our commands.
 */

export const CommandIDs = {
  /** Shows the panel of what waits for a person. */
  showApprovals: 'hermes:show-approvals',
  /** Puts a cell for a prompt below. */
  askBelow: 'hermes:ask-below',
  /** Has the agent look at the cell that failed. */
  fixCell: 'hermes:fix-cell',
  /** Ends the turn that runs in the notebook. */
  stopTurn: 'hermes:stop-turn'
};

export const CATEGORY = 'Hermes';
