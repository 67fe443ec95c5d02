import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { initExtension } from '../src/extensions/template.ts';
import { extensionsGround } from './extensions-ground.ts';

const repository = join(import.meta.dirname, '..', '..', '..');

/** What the compiler has to say about a folder. */
async function typeCheck(folder: string): Promise<string> {
  const tsc = join(repository, 'node_modules', 'typescript', 'bin', 'tsc');
  try {
    await promisify(execFile)(process.execPath, [tsc, '-p', folder], { cwd: folder, env: {} });
    return '';
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

describe('the template', () => {
  test('type-checks with plain tsc in a folder of its own, and slips are found', async () => {
    await using ground = await extensionsGround();
    const folder = join(ground.root, 'My extension');
    expect(await initExtension(folder)).toEqual([
      '.poly/tsconfig.json',
      'package.json',
      'tsconfig.json',
      '.gitignore',
      'index.ts',
    ]);
    expect(await typeCheck(folder)).toBe('');
    writeFileSync(
      join(folder, 'slips.ts'),
      `import type { ExtensionAPI } from 'poly/types';
import * as z from 'zod';
export default async (poly: ExtensionAPI) => {
  poly.on('action:start', ({ payload }) => { payload.actionName.trim(); });
  poly.on('action:start', async ({ payload }) => payload.actionName ? { cancel: true, reason: 'x' } : undefined);
  // @ts-expect-error
  poly.on('action:start', () => ({ cancel: 'yes' }));
  poly.on('pane:exited', ({ payload }, { caller, signal }) => [payload.exitCode, caller.participant, signal.aborted]);
  // @ts-expect-error
  poly.on('pane:exited', ({ payload }) => payload.nope);
  // @ts-expect-error
  poly.on('mine:*', ({ payload }) => payload.nope);
  const panes = await poly.executeAction('pane:list');
  panes[0]?.backend satisfies 'pty' | 'tmux' | undefined;
  await poly.executeAction('pane:new', { argv: ['x'] });
  // @ts-expect-error
  await poly.executeAction('pane:close', { paneIdd: 'x' });
  // @ts-expect-error
  await poly.executeAction('pane:close');
  // @ts-expect-error
  (await poly.executeAction('other:thing', { a: 1 })).nope;
  const parameters = z.strictObject({ n: z.number() });
  poly.registerAction({ name: 'x', parameters, execute: ({ n }) => n.toFixed(1) });
  // @ts-expect-error
  poly.registerAction({ name: 'x', parameters, execute: ({ m }) => m });
  // @ts-expect-error
  poly.registerAction({ name: 'x', result: z.object({ n: z.number() }), execute: () => ({ n: 'one' }) });
  // @ts-expect-error
  poly.registerAction({ name: 'x', scope: 'everything', execute: () => ({}) });
};
`,
    );
    expect(await typeCheck(folder)).toBe('');
  });

  test('is an extension that can be installed', async () => {
    await using ground = await extensionsGround();
    const folder = join(ground.root, 'pane');
    await initExtension(folder);
    expect(await ground.run('extensions:install', { from: folder })).toMatchObject({
      name: 'my-pane',
      actions: ['my-pane:hello'],
    });
    expect(await ground.run('my-pane:hello', { to: 'you' })).toEqual({ text: 'Hello, you!' });
  });

  test('overwrites nothing but what belongs to the machine', async () => {
    await using ground = await extensionsGround();
    mkdirSync(join(ground.root, '.poly'));
    ground.write({ 'index.ts': 'mine', '.poly/tsconfig.json': 'of another machine' });
    expect(await initExtension(ground.root)).not.toContain('index.ts');
    expect(readFileSync(join(ground.root, 'index.ts'), 'utf8')).toBe('mine');
    const { compilerOptions } = JSON.parse(readFileSync(join(ground.root, '.poly/tsconfig.json'), 'utf8'));
    for (const path of [...compilerOptions.paths['poly/types'], ...compilerOptions.paths.zod])
      expect(existsSync(path)).toBe(true);
  });
});

describe('docs/extensions.md', async () => {
  const page = readFileSync(join(repository, 'docs', 'extensions.md'), 'utf8');
  const examples = [...page.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => ({
    title: /name = '(.*)'/.exec(code)?.[1],
    code,
  }));

  test('has three examples', () => {
    expect(examples).toHaveLength(3);
    expect(page.match(/```ts\n/g)).toHaveLength(3);
  });

  test.each(examples)('the example $title type-checks', async ({ code }) => {
    await using ground = await extensionsGround();
    const folder = join(ground.root, 'author');
    mkdirSync(folder);
    writeFileSync(join(folder, 'index.ts'), code);
    await initExtension(folder);
    expect(await typeCheck(folder)).toBe('');
  });
});

describe('examples/extensions', () => {
  const folder = join(repository, 'examples', 'extensions');
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

  test.each(names)('%s is installed and type-checks in a folder of its own', async (name) => {
    await using ground = await extensionsGround();
    expect(await ground.run('extensions:install', { from: join(folder, name) })).toMatchObject({
      name,
      status: 'loaded',
    });
    const copy = join(ground.root, name);
    cpSync(join(folder, name), copy, { recursive: true });
    await initExtension(copy);
    expect(await typeCheck(copy)).toBe('');
  });

  test('the logger writes a line for everything that happens', async () => {
    await using ground = await extensionsGround();
    await ground.run('extensions:install', { from: join(folder, 'logger') });
    await ground.events.append([
      { event: 'some:thing', payload: { secret: 'x' }, from: { participant: 'agent:bob', pane: 'pty_2' } },
    ]);
    await expect
      .poll(() => ground.log.find(({ message }) => message === 'some:thing'))
      .toEqual({
        level: 'info',
        message: 'some:thing',
        fields: { extension: 'logger', fields: { seq: expect.any(Number), by: 'agent:bob', pane: 'pty_2' } },
      });
  });

  test('the guard says which commands it stops, and stops them', async () => {
    await using ground = await extensionsGround();
    await ground.run('extensions:install', { from: join(folder, 'guard') });
    expect(await ground.run('guard:check', { command: 'ls -r' })).toEqual({ allowed: true });
    const precious = join(ground.root, 'precious');
    mkdirSync(precious);
    const command = `rm -rf ${precious}`;
    expect(await ground.run('guard:check', { command })).toEqual({
      allowed: false,
      reason: 'it deletes whole folders',
    });
    const error = await ground.failure('shell:run', { command });
    expect(error).toMatchObject({
      code: 'vetoed',
      message: 'shell:run was cancelled by guard: it deletes whole folders',
    });
    expect((await ground.event('guard:stopped')).payload).toEqual({
      command,
      reason: 'it deletes whole folders',
    });
    expect(existsSync(precious)).toBe(true);
    expect(await ground.run('shell:run', { command: ':' })).toEqual({});
  });
});
