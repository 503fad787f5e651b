/**
 * Outputs as the kernel is told of them: a page full of plots must not fill the connection.
 */

import * as nbformat from '@jupyterlab/nbformat';
import { PartialJSONValue } from '@lumino/coreutils';

const LONGEST_TEXT = 20_000;
/** Of an image: enough for what says how large it is. */
const HEAD = 64;

/** The same outputs, long texts and all images cut. */
export function inShort(outputs: nbformat.IOutput[]): nbformat.IOutput[] {
  return outputs.map(output => {
    if (nbformat.isStream(output)) {
      return { ...output, text: cut(joined(output.text)) };
    }
    if (nbformat.isDisplayData(output) || nbformat.isExecuteResult(output)) {
      return { ...output, data: bundle(output.data) };
    }
    return nbformat.isError(output)
      ? { ...output, evalue: cut(output.evalue), traceback: [] }
      : output;
  });
}

function bundle(data: nbformat.IMimeBundle): nbformat.IMimeBundle {
  return Object.fromEntries(
    Object.entries(data).map(([kind, content]) => [kind, piece(kind, content)])
  ) as nbformat.IMimeBundle;
}

function piece(kind: string, content: PartialJSONValue | undefined): PartialJSONValue {
  if (kind.startsWith('image/')) {
    return typeof content === 'string' ? content.slice(0, HEAD) : '';
  }
  if (typeof content === 'string') {
    return cut(content);
  }
  return isTexts(content) ? cut(content.join('')) : {};
}

function isTexts(content: PartialJSONValue | undefined): content is string[] {
  return Array.isArray(content) && content.every(line => typeof line === 'string');
}

function joined(text: nbformat.MultilineString): string {
  return typeof text === 'string' ? text : text.join('');
}

function cut(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}
