import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');

it('docs/from-opencode-pty.md names tests that are there', () => {
  const text = readFileSync(join(root, 'docs', 'from-opencode-pty.md'), 'utf8');
  const [, section = ''] = /^## What behaves better$(.*?)^## /ms.exec(text) ?? [];
  const rows = section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| behaviour'));
  const named = rows.map((row) => /`([^`]+\.test\.ts)` \|$/.exec(row)?.[1] ?? row);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
