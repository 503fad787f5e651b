/**
 * A whole turn: its log, and the line below it that says what it took and what can be done with it.
 */

import { Clipboard } from '@jupyterlab/apputils';
import { TranslationBundle } from '@jupyterlab/translation';

import { button, element, labelled } from './elements';
import { FindBar } from './findBar';
import { find } from './finding';
import { Log } from './log';
import { ILog, IPens } from './pens';
import { Place } from './place';
import { Prose } from './prose';
import { ITurn } from './turn';
import { costOf, footerOf } from './words';

/** A shorter turn is seen at a glance. */
const FINDABLE_PARTS = 4;
/** Of a longer turn only what is in view is laid out. */
const LONG_PARTS = 60;

export class TurnView {
  /**
   * @param copied What "copy" takes: the turn as Markdown.
   * @param isSeen Whether the person has read it already, as text above.
   */
  constructor(
    turn: ITurn,
    prose: Prose,
    trans: TranslationBundle,
    { copied, isSeen }: { copied: string; isSeen: boolean }
  ) {
    this._turn = turn;
    this._trans = trans;
    const pens: IPens = { prose, trans, log: parts => new Log(parts, pens) };
    this._log = pens.log(turn.parts);
    this.node = element('div', 'hermes-turn', 'hermes-record');
    this.node.setAttribute('role', 'group');
    this._bar = new FindBar(
      {
        node: this.node,
        find: wanted => find(turn.parts, wanted),
        reveal: path => this._log.reveal(path)
      },
      trans,
      () => this._find.focus()
    );
    this._find = button(trans.__('Find'), trans.__('Find text in this turn'), () =>
      this._bar.open()
    );
    this._find.hidden = turn.parts.length < FINDABLE_PARTS;
    this._said.setAttribute('role', 'status');
    this.node.setAttribute('aria-label', trans.__('What the agent did'));
    const long = turn.parts.length > LONG_PARTS ? ['hermes-long'] : [];
    const body = element('div', 'hermes-body', ...long);
    body.append(...this._log.nodes);
    const parts = [this._bar.node, body, ...this._ended(), this._footer(copied)];
    this.node.append(...(isSeen ? [this._folded(parts)] : parts));
  }

  readonly node: HTMLElement;

  /** Offer what can be done where it stands now. */
  settle(place: Place): void {
    this._place = place;
    this._askAgain.hidden = !place.asks;
    this._eject.hidden = !place.ejects || this._turn.turn === '';
  }

  private _ended(): HTMLElement[] {
    const { status, ended } = this._turn;
    return status === 'done' ? [] : [labelled('div', `⚠ ${ended}`, 'hermes-ended')];
  }

  private _folded(parts: HTMLElement[]): HTMLElement {
    const node = element('details', 'hermes-call', 'hermes-seen');
    const summary = element('summary', 'hermes-quiet');
    summary.append(labelled('span', this._trans.__('The turn as a record')));
    const inside = element('div', 'hermes-record-inside');
    inside.append(...parts);
    node.append(summary, inside);
    return node;
  }

  private _footer(copied: string): HTMLElement {
    const trans = this._trans;
    const about = element('details', 'hermes-about');
    const summary = labelled('summary', footerOf(this._turn, trans), 'hermes-numbers');
    summary.title = trans.__('What it took');
    about.append(summary, this._facts());
    const copy = button(trans.__('Copy'), trans.__('Copy the turn as Markdown'), () => {
      Clipboard.copyToSystem(copied);
      this._say(trans.__('Copied'));
    });
    this._askAgain = button(
      trans.__('Ask again'),
      trans.__('Put the prompt in a new cell below; nothing is run yet'),
      () => this._place?.askAgain()
    );
    this._eject = button(
      trans.__('Eject to cells'),
      trans.__('Put what the agent did in a new cell below, as code without an agent'),
      () => void this._ejected()
    );
    this._askAgain.hidden = this._eject.hidden = true;
    const actions = element('div', 'hermes-record-actions');
    actions.append(this._said, this._find, copy, this._askAgain, this._eject);
    const footer = element('div', 'hermes-footer', 'hermes-record-footer');
    footer.append(about, actions);
    return footer;
  }

  private _facts(): HTMLElement {
    const { usage, tools, isCut, sessionId, turn } = this._turn;
    const trans = this._trans;
    const facts: [string, string][] = [
      [trans.__('Read'), count(usage.read)],
      [trans.__('From a cache'), count(usage.cached)],
      [trans.__('Written'), count(usage.written)],
      [trans.__('Model calls'), count(usage.modelCalls)],
      [trans.__('Cost'), costOf(this._turn, trans)],
      [trans.__('Price from'), usage.priceSource],
      [trans.__('Tools'), tools.join(', ')],
      [trans.__('Turn'), turn],
      [trans.__('All of it'), isCut && sessionId ? `%hermes export ${sessionId} FILE` : '']
    ];
    const list = element('dl');
    facts
      .filter(([, value]) => value !== '' && value !== '0')
      .forEach(([name, value]) => list.append(labelled('dt', name), labelled('dd', value)));
    return list;
  }

  private async _ejected(): Promise<void> {
    this._eject.disabled = true;
    const wrong = this._place && (await this._place.eject(this._turn.turn));
    this._eject.disabled = false;
    if (wrong !== null) {
      const why = wrong || this._trans.__('the kernel gave no code');
      this._say(this._trans.__('Not ejected: %1', why));
    }
  }

  private _say(text: string): void {
    this._said.textContent = text;
  }

  private readonly _turn: ITurn;
  private readonly _trans: TranslationBundle;
  private readonly _log: ILog;
  private readonly _bar: FindBar;
  private readonly _find: HTMLButtonElement;
  private readonly _said = element('span', 'hermes-record-said');
  private _askAgain!: HTMLButtonElement;
  private _eject!: HTMLButtonElement;
  private _place: Place | null = null;
}

function count(number: number): string {
  return number.toLocaleString('en');
}
