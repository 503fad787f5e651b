/**
 * Elements of the page. Text only ever comes into them as text.
 */

/** A new element with these classes. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  ...classes: string[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  made.className = classes.join(' ');
  return made;
}

/** The same with a text in it. */
export function labelled<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  text: string,
  ...classes: string[]
): HTMLElementTagNameMap[K] {
  const made = element(tag, ...classes);
  made.textContent = text;
  return made;
}

/** A button that reads as text. */
export function button(
  text: string,
  title: string,
  pressed: () => void
): HTMLButtonElement {
  const made = labelled('button', text, 'hermes-record-button');
  made.type = 'button';
  made.title = title;
  made.addEventListener('click', pressed);
  return made;
}

/** A fold whose inside is made when it is opened first. */
export class Fold {
  constructor(summary: HTMLElement, fill: () => (Node | string)[], ...classes: string[]) {
    this.node = element('details', ...classes);
    this.node.append(summary);
    this._fill = fill;
    this.node.addEventListener('toggle', () => this._made());
  }

  readonly node: HTMLDetailsElement;

  open(): void {
    this._made();
    this.node.open = true;
  }

  private _made(): void {
    if (this._fill !== null) {
      this.node.append(...this._fill());
      this._fill = null;
    }
  }

  private _fill: (() => (Node | string)[]) | null;
}
