import { createHash } from 'node:crypto';

import { digest, splice } from '../src/cells/texts';

test.each(['', 'abc', 'naïve 🎲\n', 'x'.repeat(1000)])('the digest is that of %j', text => {
  expect(digest(text)).toBe(createHash('sha256').update(text, 'utf8').digest('hex'));
});

test.each([
  ['df.plot()', "df.plot(kind='bar')", "kind='bar'"],
  ['', 'new', 'new'],
  ['same', 'same', ''],
  ['aaa', 'aa', ''],
  ['🎲', '🎳', '🎳'],
  ['🎲x', '🏲x', '🏲']
])('from %j to %j only %j is put in', (before, after, inserted) => {
  const change = splice(before, after);
  expect(change.inserted).toBe(inserted);
  expect(before.slice(0, change.start) + inserted + before.slice(change.end)).toBe(after);
});
