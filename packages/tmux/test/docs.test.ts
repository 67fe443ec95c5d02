import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const page = await readFile(join(root, 'docs', 'tmux.md'), 'utf8');
const examples = [...page.matchAll(/```ts\n(.*?)```\n\n```text\n(.*?)```/gs)].map(
  ([, code = '', output = ''], i) => ({
    title: `example ${i + 1} of docs/tmux.md, ${JSON.stringify(code.split('\n')[2])}`,
    code,
    output,
  }),
);

test('the page has an example of each of its eight parts', () => {
  expect(page.match(/^## \d\. /gm)).toHaveLength(8);
  expect(examples.length).toBeGreaterThanOrEqual(8);
  expect(page.match(/```ts\n/g)).toHaveLength(examples.length);
});

test.each(examples)('$title prints what stands below it', async ({ code, output }) => {
  const directory = await mkdtemp(join(tmpdir(), 'poly-docs-'));
  // Inside the package, so that its imports are found.
  const file = join(import.meta.dirname, `example-${process.pid}-${Math.random().toString(36).slice(2)}.ts`);
  const env = { PATH: process.env.PATH, HOME: directory, TMUX_TMPDIR: directory, SHELL: '/bin/sh' };
  try {
    await writeFile(file, code);
    const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=source', file], {
      env,
      cwd: directory,
    });
    expect(stdout).toBe(output);
  } finally {
    await rm(file);
    // Safe to ignore: an example that has killed its server leaves nothing to kill.
    await promisify(execFile)('tmux', ['kill-server'], { env }).catch(() => undefined);
    await rm(directory, { recursive: true, force: true });
  }
});
