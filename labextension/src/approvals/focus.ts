/**
 * Where the keyboard is in the panel: in a request that is answered, and in the one after it.
 */

import * as React from 'react';

const CARD = '.hermes-Card';
/** What holds them, when there is none, too. */
const CARDS = '.hermes-Panel-content';
/** Keys mean something of their own in these. */
const OWN_KEYS = 'input, textarea, pre';

export function holdsFocus(node: Element | null): boolean {
  return node !== null && node.contains(document.activeElement);
}

/** When the card goes while it has the focus, the next one has it, or what holds the cards. */
export function useHandedOn(card: React.RefObject<HTMLElement>): void {
  React.useLayoutEffect(() => {
    const { current } = card;
    return () => {
      if (current !== null && holdsFocus(current)) {
        heir(current)?.focus();
      }
    };
  }, []);
}

/** Put the focus to what waits longest, or to the panel itself. */
export function enter(panel: HTMLElement): void {
  const waiting = panel.querySelector<HTMLElement>(`${CARD}:not(.hermes-mod-answered)`);
  (waiting ?? panel.querySelector<HTMLElement>(CARDS))?.focus();
}

/** Up and down go from request to request; Escape goes back to the notebook. */
export function move(event: React.KeyboardEvent<HTMLElement>, leave: () => void): void {
  const target = event.target as HTMLElement;
  if (event.key === 'Escape' && !event.defaultPrevented) {
    event.preventDefault();
    leave();
  }
  if (!event.key.startsWith('Arrow') || target.closest(OWN_KEYS)) {
    return;
  }
  const cards = [...event.currentTarget.querySelectorAll<HTMLElement>(CARD)];
  const here = cards.findIndex(holdsFocus);
  const next = { ArrowDown: cards[here + 1], ArrowUp: cards[here - 1] }[event.key];
  if (next) {
    event.preventDefault();
    next.focus();
  }
}

function heir(card: HTMLElement): HTMLElement | null {
  const others = [card.nextElementSibling, card.previousElementSibling];
  const next = others.find(each => each?.matches(CARD));
  return (next as HTMLElement | undefined) ?? card.closest(CARDS);
}
