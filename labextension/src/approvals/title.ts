/**
 * Says in the title of the page how many wait, so that its tab tells it among others.
 */

import { IAgents } from '../agents/agents';

/** Keep the count before the title, whoever else sets it. */
export function countInTitle(agents: IAgents): void {
  let plain = document.title;
  let shown = plain;
  const show = (): void => {
    if (document.title !== shown) {
      plain = document.title; // somebody else's word
    }
    shown = agents.count > 0 ? `(${agents.count}) ${plain}` : plain;
    if (document.title !== shown) {
      document.title = shown;
    }
  };
  agents.changed.connect(show);
  new MutationObserver(show).observe(document.head, {
    subtree: true,
    childList: true,
    characterData: true
  });
}
