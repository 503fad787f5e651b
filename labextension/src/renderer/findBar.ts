/**
 * A field that finds text in the turn: each match is opened, scrolled to and marked in turn.
 */

import { TranslationBundle } from '@jupyterlab/translation';

import { button, element } from './elements';
import { Path } from './pens';

/** The name of our marks, for the style sheet. */
const MARK = 'hermes-found';

export interface IFindable {
  node: HTMLElement;
  find: (wanted: string) => readonly Path[];
  reveal: (path: Path) => HTMLElement | null;
}

export class FindBar {
  constructor(turn: IFindable, trans: TranslationBundle, closed: () => void) {
    this._turn = turn;
    this._trans = trans;
    this._closed = closed;
    this.node = element('div', 'hermes-find');
    this.node.setAttribute('role', 'search');
    this.node.dataset.lmSuppressShortcuts = 'true';
    this.node.hidden = true;
    this._field = element('input', 'hermes-find-field');
    this._field.type = 'search';
    this._field.placeholder = trans.__('Find in this turn');
    this._field.setAttribute('aria-label', this._field.placeholder);
    this._count = element('span', 'hermes-find-count');
    this._count.setAttribute('role', 'status');
    this._field.addEventListener('input', () => this._look());
    this.node.addEventListener('keydown', event => this._key(event));
    this.node.append(
      this._field,
      this._count,
      button('↑', trans.__('The match before'), () => this._step(-1)),
      button('↓', trans.__('The next match'), () => this._step(1)),
      button(trans.__('Close'), trans.__('Stop finding'), () => this.close())
    );
  }

  readonly node: HTMLElement;

  open(): void {
    this.node.hidden = false;
    this._field.focus();
    this._field.select();
  }

  close(): void {
    this.node.hidden = true;
    this._opened = []; // what was found stays in view
    this._marked(null);
    this._closed();
  }

  private _key(event: KeyboardEvent): void {
    event.stopPropagation();
    if (event.key === 'Escape') {
      this.close();
    } else if (event.key === 'Enter' && event.target === this._field) {
      event.preventDefault();
      this._step(event.shiftKey ? -1 : 1);
    }
  }

  private _look(): void {
    this._paths = this._turn.find(this._field.value.trim());
    this._number = -1;
    this._marked(null);
    if (this._paths.length > 0) {
      this._step(1);
    } else {
      this._count.textContent = this._field.value.trim() ? this._trans.__('not found') : '';
    }
  }

  private _step(by: number): void {
    const { length } = this._paths;
    if (length === 0) {
      return;
    }
    this._number = (this._number + by + length) % length;
    this._count.textContent = this._trans.__('%1 of %2', this._number + 1, length);
    this._marked(null);
    const were = new Set(this._turn.node.querySelectorAll('details[open]'));
    const node = this._turn.reveal(this._paths[this._number]);
    this._marked(node);
    const open = [...this._turn.node.querySelectorAll<HTMLDetailsElement>('details[open]')];
    this._opened = open.filter(fold => !were.has(fold));
    node?.scrollIntoView({ block: 'nearest' });
  }

  /** Close what was only opened to show a match. */
  private _close(): void {
    this._opened.forEach(fold => (fold.open = false));
    this._opened = [];
  }

  /** Mark the text where it stands. Browsers that cannot, mark the part. */
  private _marked(node: HTMLElement | null): void {
    this._node?.classList.remove('hermes-found');
    this._node = node;
    node?.classList.add('hermes-found');
    const marks = (window.CSS as { highlights?: HighlightRegistry } | undefined)
      ?.highlights;
    if (node === null) {
      this._close();
      marks?.delete(MARK);
    } else {
      marks?.set(MARK, new Highlight(...rangesOf(node, this._field.value.trim())));
    }
  }

  private readonly _turn: IFindable;
  private readonly _trans: TranslationBundle;
  private readonly _closed: () => void;
  private readonly _field: HTMLInputElement;
  private readonly _count: HTMLElement;
  private _paths: readonly Path[] = [];
  private _number = -1;
  private _node: HTMLElement | null = null;
  private _opened: HTMLDetailsElement[] = [];
}

function rangesOf(node: HTMLElement, wanted: string): Range[] {
  const needle = wanted.toLowerCase();
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text !== null; text = walker.nextNode()) {
    const content = (text.nodeValue ?? '').toLowerCase();
    for (let at = content.indexOf(needle); at >= 0; at = content.indexOf(needle, at + 1)) {
      const range = document.createRange();
      range.setStart(text, at);
      range.setEnd(text, at + needle.length);
      ranges.push(range);
    }
  }
  return ranges;
}
