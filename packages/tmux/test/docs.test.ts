import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { eventTypes } from '../src/events/event.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const page = await readFile(join(root, 'docs', 'tmux.md'), 'utf8');
const examples = [...page.matchAll(/```ts\n(.*?)```\n\n```text\n(.*?)```/gs)].map(
  ([, code = '', output = ''], i) => ({
    title: `example ${i + 1} of docs/tmux.md, ${JSON.stringify(/\n\n(.*)/.exec(code)?.[1])}`,
    code,
    output,
  }),
);

test('the page has an example of each of its eight parts', () => {
  expect(page.match(/^## \d\. /gm)).toHaveLength(8);
  expect(examples.length).toBeGreaterThanOrEqual(8);
  expect(page.match(/```ts\n/g)).toHaveLength(examples.length);
});

test('the page names every event and every code of an error', async () => {
  const codes = await readFile(join(import.meta.dirname, '..', 'src', 'errors.ts'), 'utf8');
  const [, table = ''] = /const hints = \{(.*?)\} as const/s.exec(codes) ?? [];
  const names = [...eventTypes, ...[...table.matchAll(/^ {2}(\w+):/gm)].map(([, code = '']) => code)];
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test.each(examples)('$title prints what stands below it', async ({ code, output }) => {
  expect(await run(code)).toBe(output);
});

/** Runs a module in a process and a folder of its own, with a tmux of its own, and answers what it printed. */
async function run(code: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'poly-docs-'));
  // Inside the package, so that its imports are found.
  const file = join(import.meta.dirname, `example-${process.pid}-${Math.random().toString(36).slice(2)}.ts`);
  const env = { PATH: process.env.PATH, HOME: directory, TMUX_TMPDIR: directory, SHELL: '/bin/sh' };
  try {
    await writeFile(file, code);
    const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=polyphony-source', file], {
      env,
      cwd: directory,
    });
    return stdout;
  } finally {
    await rm(file);
    for (const socket of globSync('tmux-*/*', { cwd: directory })) {
      // Safe to ignore: an example that has killed its server leaves nothing to kill.
      await promisify(execFile)('tmux', ['-S', join(directory, socket), 'kill-server']).catch(
        () => undefined,
      );
    }
    await rm(directory, { recursive: true, force: true });
  }
}

const entries = {
  '@polyphony/tmux': await import('../src/index.ts'),
  '@polyphony/tmux/workspace': await import('../src/workspace/index.ts'),
  '@polyphony/tmux/testing': await import('../src/testing/index.ts'),
};
const isOperation = (value: unknown): boolean => typeof value === 'function' && 'spec' in value;
const callable = Object.values(entries).flatMap((entry) =>
  Object.entries(entry)
    .filter(([, value]) => typeof value === 'function' && !isOperation(value))
    .map(([name]) => name),
);

/** The examples in the comments of what is public, by the name of what they belong to. */
const commented = (
  await Promise.all(
    globSync('src/**/*.ts', { cwd: join(import.meta.dirname, '..') }).map(async (file) =>
      examplesIn(await readFile(join(import.meta.dirname, '..', file), 'utf8')),
    ),
  )
)
  .flat()
  .filter(({ name }) => callable.includes(name.split('.')[0] ?? ''));

function examplesIn(source: string): readonly { readonly name: string; readonly code: string }[] {
  const owned =
    /^export class (\w+)|@example ?((?:(?!\*\/).)*)\*\/\n( *)(?:export )?(?:abstract |async |static |function |class |const )*(\w+)/gms;
  let owner = '';
  return [...source.matchAll(owned)].flatMap(([, opened, code, indent, name = '']) => {
    owner = opened ?? (indent === '' ? name : owner);
    if (code === undefined) return [];
    return [{ name: indent ? `${owner}.${name}` : name, code: code.replaceAll(/^ *\* ?/gm, '') }];
  });
}

/** What an example need not say: the imports, and a server with something on it. */
const surroundings = `
const { engine, server, session, window, pane, ...demo } = await demoHandles();
await using _ = { [Symbol.asyncDispose]: demo.stop };
`;

const results = new Map<string, string | null>();
beforeAll(async () => {
  const names = Object.entries(entries).map(
    ([entry, values]) => `import { ${Object.keys(values).join(', ')} } from '${entry}';`,
  );
  const bodies = commented.map(
    ({ name, code }) => `[${JSON.stringify(name)}, async () => {${surroundings}{\n${code}\n}}]`,
  );
  const printed = await run(`${names.join('\n')}
import { writeFile } from 'node:fs/promises';
async function demoHandles() {
  const { connection, engine, stop } = await demoServer();
  const server = new Server(engine(), connection);
  const session = await server.session('demo');
  const window = await session.window();
  return { stop, server, engine: server.engine, session, window, pane: await window.pane() };
}
await writeFile('dev.yaml', 'session_name: dev\\nwindows: [{}]\\n');
const results = [];
for (const [name, example] of [${bodies.join(',\n')}])
  results.push([name, await example().then(() => null, (error) => String(error.stack))]);
console.log('results:' + JSON.stringify(results));
`);
  const found = JSON.parse(printed.slice(printed.lastIndexOf('results:') + 'results:'.length));
  for (const [name, error] of found) results.set(name, error);
}, 120_000);

test.each(callable)('%s has an example in its comment', (name) => {
  expect(commented.map((example) => example.name)).toContain(name);
});

test.each(commented)('the example of $name runs', ({ name }) => {
  expect(results.get(name)).toBeNull();
});
