/**
 * Where in a turn something stands, also in what is not drawn yet.
 */

import { Path } from './pens';
import { ICalled, Part } from './turn';

/** The paths of all parts in which the text occurs, whatever its case. */
export function find(parts: readonly Part[], wanted: string): Path[] {
  const needle = wanted.toLowerCase();
  return needle === '' ? [] : within(parts, needle);
}

function within(parts: readonly Part[], needle: string): Path[] {
  return parts.flatMap((part, number) => {
    const itself = textsOf(part).some(text => text.toLowerCase().includes(needle));
    const inside = part.type === 'called' ? lanesOf(part, needle) : [];
    return [...(itself ? [[number]] : []), ...inside.map(path => [number, ...path])];
  });
}

function lanesOf({ lanes }: ICalled, needle: string): Path[] {
  return lanes.flatMap((lane, number) => {
    const said = [lane.name, lane.goal, lane.state, lane.text];
    const itself = said.some(text => text.toLowerCase().includes(needle));
    const inside = within(lane.parts, needle).map(path => [number, ...path]);
    return [...(itself ? [[number]] : []), ...inside];
  });
}

function textsOf(part: Part): string[] {
  switch (part.type) {
    case 'called':
      return [
        part.name,
        part.short,
        part.args,
        part.edited,
        part.result,
        part.details,
        ...part.decisions
      ];
    case 'asked':
      return [part.text, part.answer ?? ''];
    case 'omitted':
      return [];
    default:
      return [part.text];
  }
}
