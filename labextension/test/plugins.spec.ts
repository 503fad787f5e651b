import { readFileSync } from 'node:fs';

import plugins from '../src';

const name: string = JSON.parse(readFileSync(`${__dirname}/../package.json`, 'utf8')).name;

test('plugins are named after the package', () => {
  expect(plugins.filter(({ id }) => !id.startsWith(`${name}:`))).toEqual([]);
});

test('every plugin says what it is for', () => {
  expect(plugins.filter(({ description }) => !description)).toEqual([]);
});
