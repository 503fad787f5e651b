/**
 * The difference of two texts, line by line, in the form of a unified diff.
 */

const CONTEXT = 2;
/** Of more lines against lines all are told as replaced: a person would not read the rest. */
const MOST = 1_000_000;

/** Lines with `+`, `-` or a space before them; of what is the same only what is near. */
export function lineDiff(before: string, after: string): string {
  const [old, now] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) {
    start++;
  }
  let same = 0;
  const shorter = Math.min(old.length, now.length) - start;
  while (same < shorter && old[old.length - 1 - same] === now[now.length - 1 - same]) {
    same++;
  }
  const end = old.length - same;
  return [
    ...old.slice(Math.max(0, start - CONTEXT), start).map(line => ` ${line}`),
    ...changed(old.slice(start, end), now.slice(start, now.length - same)),
    ...old.slice(end, end + CONTEXT).map(line => ` ${line}`)
  ].join('\n');
}

function changed(old: string[], now: string[]): string[] {
  if (old.length * now.length > MOST) {
    return [...old.map(line => `-${line}`), ...now.map(line => `+${line}`)];
  }
  const common = lengths(old, now);
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push(` ${old[i++]}`);
      j++;
    } else if (
      j === now.length ||
      (i < old.length && common[i + 1][j] >= common[i][j + 1])
    ) {
      lines.push(`-${old[i++]}`);
    } else {
      lines.push(`+${now[j++]}`);
    }
  }
  return lines;
}

/** Of the longest common part of what is left from each pair of places on. */
function lengths(old: string[], now: string[]): number[][] {
  const table = Array.from({ length: old.length + 1 }, () =>
    new Array<number>(now.length + 1).fill(0)
  );
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      table[i][j] =
        old[i] === now[j]
          ? table[i + 1][j + 1] + 1
          : Math.max(table[i + 1][j], table[i][j + 1]);
    }
  }
  return table;
}
