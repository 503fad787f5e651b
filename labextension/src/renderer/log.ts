/**
 * The parts of a turn, or of an agent that worked for it, one below the other.
 */

import { CallRow } from './call';
import { Fold, element, labelled } from './elements';
import { listing } from './listing';
import { ILog, IPens, Path } from './pens';
import { IScale, scaleOf } from './timeline';
import { ICalled, Part } from './turn';
import { summaryOf } from './words';

/** More calls in a row than this share one fold. */
const FOLD_ABOVE = 4;

interface IBlock {
  from: number;
  parts: readonly Part[];
}

export class Log implements ILog {
  constructor(parts: readonly Part[], pens: IPens) {
    this._pens = pens;
    this.nodes = blocksOf(parts).map(block => this._block(block));
  }

  readonly nodes: readonly HTMLElement[];

  /** Open what hides the part that stands there, and return its element. */
  reveal([number, ...rest]: Path): HTMLElement | null {
    this._folds.get(number)?.open();
    const row = this._rows.get(number);
    return row !== undefined ? row.reveal(rest) : (this._nodes.get(number) ?? null);
  }

  private _block({ from, parts }: IBlock): HTMLElement {
    if (parts[0].type !== 'called') {
      const node = this._part(parts[0] as Exclude<Part, ICalled>);
      this._nodes.set(from, node);
      return node;
    }
    const calls = parts as readonly ICalled[];
    const scale = scaleOf(calls);
    const rows = () => calls.map((call, n) => this._row(call, from + n, scale));
    if (calls.length === 1) {
      return rows()[0];
    }
    const batch = element('div', 'hermes-batch');
    if (calls.length <= FOLD_ABOVE) {
      batch.append(...rows());
      return batch;
    }
    const summary = element('summary');
    const { trans } = this._pens;
    summary.append(labelled('span', summaryOf(calls, trans), 'hermes-fold-title'));
    const fold = new Fold(summary, rows, 'hermes-call', 'hermes-fold');
    calls.forEach((_, n) => this._folds.set(from + n, fold));
    batch.append(fold.node);
    return batch;
  }

  private _row(call: ICalled, number: number, scale: IScale | null): HTMLElement {
    const row = new CallRow(call, scale, this._pens);
    this._rows.set(number, row);
    return row.node;
  }

  private _part(part: Exclude<Part, ICalled>): HTMLElement {
    const { prose, trans } = this._pens;
    switch (part.type) {
      case 'said':
        return prose.draw(part.text);
      case 'thought': {
        const words = part.text.split(/\s+/).filter(Boolean).length;
        const title = trans._n('Thought, %1 word', 'Thought, %1 words', words);
        return this._folded(`💭 ${title}`, part.text, 'hermes-quiet');
      }
      case 'spoken': {
        const node = element('div', 'hermes-spoken');
        node.append(labelled('b', trans.__('You:')), ` ${part.text}`);
        return node;
      }
      case 'asked': {
        const node = element('div', 'hermes-asked');
        const reply = element('div', 'hermes-reply');
        const answer = labelled('b', part.answer ?? trans.__('nobody answered'));
        reply.append('↳ ', answer);
        node.append(prose.draw(part.text), reply);
        return node;
      }
      case 'compared': {
        const title = trans._n(
          '%1 call answered in another way than recorded',
          '%1 calls answered in another way than recorded',
          part.count
        );
        return this._folded(`⚠ ${title}`, part.text);
      }
      case 'omitted':
        return labelled(
          'div',
          trans._n('… %1 more left out …', '… %1 more left out …', part.number),
          'hermes-notice',
          'hermes-omitted'
        );
      case 'warned': {
        const node = element('div', 'hermes-notice', 'hermes-warning');
        node.append(labelled('span', '⚠', 'hermes-sign'), ` ${part.text}`);
        return node;
      }
    }
  }

  private _folded(title: string, text: string, ...classes: string[]): HTMLElement {
    const summary = element('summary', ...classes);
    summary.append(labelled('span', title));
    return new Fold(summary, () => listing(text), 'hermes-call').node;
  }

  private readonly _pens: IPens;
  private readonly _nodes = new Map<number, HTMLElement>();
  private readonly _rows = new Map<number, CallRow>();
  private readonly _folds = new Map<number, Fold>();
}

/** Calls that follow each other are taken together; everything else stands alone. So does a call
 * that has more to say: one that a person decided on, and one for which agents worked. */
function blocksOf(parts: readonly Part[]): IBlock[] {
  const blocks: { from: number; parts: Part[] }[] = [];
  parts.forEach((part, from) => {
    const last = blocks[blocks.length - 1];
    if (isPlain(part) && isPlain(last?.parts[0])) {
      last.parts.push(part);
    } else {
      blocks.push({ from, parts: [part] });
    }
  });
  return blocks;
}

function isPlain(part: Part | undefined): boolean {
  return part?.type === 'called' && part.lanes.length === 0 && part.decisions.length === 0;
}
