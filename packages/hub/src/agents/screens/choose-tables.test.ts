import { describe, expect, it } from 'vitest';
import { chooseTables } from './choose-tables.ts';
import { compareVersions, readVersion } from './version.ts';

const tables = [
  { from: '2.1.9', to: '2.1.20', name: 'own' },
  { from: '2.1.10', name: 'newest' },
  { from: '2.1.9', name: 'shipped' },
  { from: '1.0', to: '1.9.9', name: 'old' },
];

describe('chooseTables', () => {
  it.each([
    [undefined, ['newest', 'own', 'shipped', 'old']],
    ['2.1.10', ['newest', 'own', 'shipped']],
    ['3', ['newest', 'shipped']],
    ['2.1.9', ['own', 'shipped']],
    ['2.0', ['own', 'shipped']],
    ['1.9.9.0', ['old']],
    ['0.5', ['old']],
  ])('tries for version %s %j', (version, names) => {
    expect(chooseTables(tables, version).map(({ name }) => name)).toEqual(names);
  });

  it('has none where the last one ended before that version', () => {
    expect(chooseTables([{ from: '1', to: '2' }], '2.0.1')).toEqual([]);
  });
});

describe('a version', () => {
  it.each([
    ['2.1.325', '2.1.325'],
    ['v0.61.0-preview.2', '0.61.0'],
    ['2.1.325 (Claude Code)', '2.1.325'],
    ['codex-cli 0.166.0', '0.166.0'],
    ['latest', undefined],
    [7, undefined],
    [undefined, undefined],
  ])('%j has the numbers %s', (written, numbers) => expect(readVersion(written)).toBe(numbers));

  it('is compared by its numbers, and not as text', () => {
    expect(compareVersions('2.1.10', '2.1.9')).toBeGreaterThan(0);
    expect(compareVersions('2.1', '2.1.0')).toBe(0);
    expect(compareVersions('1.99', '2')).toBeLessThan(0);
  });
});
