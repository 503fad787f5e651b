/**
 * A tool call: a line, below it, folded, its arguments and its answer, and what its agents did.
 */

import { Fold, element, labelled } from './elements';
import { listing } from './listing';
import { ILog, IPens, Path } from './pens';
import { IScale, barOf, scaleOf } from './timeline';
import { ICalled, ILane } from './turn';
import { endingOf } from './words';

export class CallRow {
  constructor(call: ICalled, scale: IScale | null, pens: IPens) {
    this._call = call;
    this._pens = pens;
    const summary = element('summary');
    const { sign, words } = endingOf(call, pens.trans);
    const state = element('span', 'hermes-state');
    state.append(labelled('span', sign, 'hermes-sign'), ` ${words}`);
    summary.append(
      labelled('span', call.emoji),
      labelled('span', call.name, 'hermes-name'),
      labelled('span', call.short, 'hermes-short'),
      state,
      ...barOf(call, scale, call.status, pens.trans)
    );
    const classes = ['hermes-call', `hermes-is-${call.status}`];
    this._fold = new Fold(summary, () => this._inside(), ...classes);
    if (call.byHand || call.lanes.length > 0) {
      this._fold.open();
    }
    this.node = this._fold.node;
  }

  readonly node: HTMLElement;

  /** Open it, and the lane in which something stands. */
  reveal([lane, ...rest]: Path): HTMLElement | null {
    this._fold.open();
    return lane === undefined ? this.node : (this._lanes[lane]?.reveal(rest) ?? null);
  }

  private _inside(): (Node | string)[] {
    const { trans } = this._pens;
    const call = this._call;
    const ran = call.status !== 'denied' && call.status !== 'unfinished';
    const how = ran ? trans.__('Edited by you, then run') : trans.__('Edited by you');
    const edited = call.edited ? [labelled('div', how, 'hermes-decided')] : [];
    return [
      ...listing(call.args),
      ...edited,
      ...listing(call.edited),
      ...listing(call.result),
      ...this._details(),
      ...this._children()
    ];
  }

  private _details(): HTMLElement[] {
    const { details } = this._call;
    if (details.trim() === '') {
      return [];
    }
    const summary = element('summary');
    summary.append(labelled('span', this._pens.trans.__('In full')));
    return [new Fold(summary, () => listing(details), 'hermes-call', 'hermes-more').node];
  }

  private _children(): HTMLElement[] {
    const { lanes, moreLanes } = this._call;
    if (lanes.length === 0) {
      return [];
    }
    const scale = scaleOf(lanes);
    this._lanes = lanes.map(lane => new LaneRow(lane, scale, this._pens));
    const node = element('div', 'hermes-lanes');
    node.append(...this._lanes.map(lane => lane.node));
    if (moreLanes > 0) {
      const said = this._pens.trans.__('… %1 more left out …', moreLanes);
      node.append(labelled('div', said, 'hermes-notice', 'hermes-omitted'));
    }
    return [node];
  }

  private readonly _call: ICalled;
  private readonly _pens: IPens;
  private readonly _fold: Fold;
  private _lanes: LaneRow[] = [];
}

/** An agent that worked for the call: a line, and below it, folded, what it did and said. */
class LaneRow {
  constructor(lane: ILane, scale: IScale | null, pens: IPens) {
    const summary = element('summary', 'hermes-child-line');
    const [sign, ...words] = lane.state.split(' ');
    const state = element('span', 'hermes-state');
    const ended = lane.status === 'completed' ? 'ok' : lane.status;
    state.append(labelled('span', sign, 'hermes-sign'), ` ${words.join(' ')}`);
    summary.append(
      labelled('span', lane.name, 'hermes-name'),
      state,
      ...barOf(lane, scale, ended, pens.trans)
    );
    summary.title = lane.goal;
    const classes = ['hermes-call', 'hermes-child', `hermes-is-${ended}`];
    this._fold = new Fold(summary, () => this._inside(lane, pens), ...classes);
    this.node = this._fold.node;
  }

  readonly node: HTMLElement;

  /** Open it, and return the element of the part; its own, if there is no such part. */
  reveal(path: Path): HTMLElement | null {
    this._fold.open();
    return path.length === 0 ? this.node : (this._log?.reveal(path) ?? null);
  }

  private _inside(lane: ILane, pens: IPens): HTMLElement[] {
    this._log = pens.log(lane.parts);
    const isSaid = lane.goal === '' || lane.name.endsWith(lane.goal);
    const goal = isSaid ? [] : [labelled('div', lane.goal, 'hermes-notice')];
    const answer = lane.text.trim() === '' ? [] : [pens.prose.draw(lane.text)];
    return [...goal, ...this._log.nodes, ...answer];
  }

  private readonly _fold: Fold;
  private _log: ILog | null = null;
}
