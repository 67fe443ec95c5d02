import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ExtensionInfo } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ExtensionsGround, extension, extensionsGround, inPane } from './extensions-ground.ts';

const greeter = extension(
  'greeter',
  `poly.registerAction({
    name: 'hello',
    summary: 'Greets.',
    parameters: z.strictObject({ to: z.string() }),
    result: z.object({ text: z.string() }),
    execute: ({ to }, { caller }) => ({ text: \`Hello, \${to}! (\${caller.participant}, \${caller.pane})\` }),
  });`,
);

describe('loading', () => {
  test('an extension adds actions that run through dispatch for whoever asks', async () => {
    await using ground = await extensionsGround();
    ground.plant('anything', greeter);
    await ground.extensions.load();
    expect(await ground.extensions.list()).toEqual([
      {
        name: 'greeter',
        directory: join(ground.directory, 'anything'),
        status: 'loaded',
        version: '1.2.3',
        actions: ['greeter:hello'],
      },
    ]);
    expect(await ground.run('greeter:hello', { to: 'you' })).toEqual({
      text: 'Hello, you! (user:ann, undefined)',
    });
    expect(await ground.run('greeter:hello', { to: 'you' }, inPane)).toEqual({
      text: 'Hello, you! (agent:pty_1, pty_1)',
    });
    expect(await ground.failure('greeter:hello', { whom: 'you' })).toMatchObject({
      code: 'invalid_arguments',
    });
    expect(ground.registry.get('greeter:hello').action).toMatchObject({
      scope: 'extensions:run',
      effect: 'write',
      summary: 'Greets.',
    });
    await ground.event('action:success', ({ payload }) => JSON.stringify(payload).includes('greeter:hello'));
  });

  test('JavaScript, CommonJS, several files and top-level await load alike', async () => {
    await using ground = await extensionsGround();
    ground.plant(
      'a',
      `import { z } from 'zod'; export const name = 'a'; export default () => z.string();`,
      'main.mjs',
    );
    ground.plant(
      'b',
      `const { z } = require('zod'); module.exports = { name: 'b', default: () => z.string() };`,
      'main.cjs',
    );
    ground.write({
      'extensions/c/state.ts': 'export const state: { n: number } = { n: 0 };',
      'extensions/c/count.ts': `import { state } from './state.ts'; export const count = () => ++state.n;`,
    });
    ground.plant(
      'c',
      extension(
        'c',
        `poly.registerAction({ name: 'count', execute: () => ({ n: count(), same: state.n }) });`,
        `import { count } from './count'; import { state } from './state.js'; await Promise.resolve();`,
      ),
    );
    await ground.extensions.load();
    expect((await ground.extensions.list()).map(({ name, status }) => `${name} ${status}`)).toEqual([
      'a loaded',
      'b loaded',
      'c loaded',
    ]);
    expect(await ground.run('c:count')).toEqual({ n: 1, same: 1 });
  });

  const broken: Readonly<Record<string, readonly [code: string, error: RegExp]>> = {
    'throws when it is imported': ['throw new Error("no luck")', /no luck/],
    'throws what is no error': ['throw Object.create(null)', /null prototype/],
    'throws when it is started': [extension('bad', 'throw new Error("no luck")'), /no luck/],
    'never ends its import': ['await new Promise(() => {});', /did not load within 1500 ms/],
    'never ends its start': [extension('bad', 'await new Promise(() => {})'), /did not start within 1500 ms/],
    'does not parse': ['export const = ;', /index\.ts/],
    'needs what is not there': [`import 'left-pad'; ${extension('bad')}`, /left-pad/],
    'exports no name': ['export default function fine() {}', /exports no name/],
    'exports no function': [`export const name = 'bad'`, /default export is no function/],
    'has a capital in its name': [extension('Bad'), /no extension's name/],
    'has a path for a name': [extension('../bad'), /no extension's name/],
    'has a name of the hub': [extension('pane'), /word of the hub's own/],
    'registers an action with a bad name': [
      extension('bad', `poly.registerAction({ name: 'A b', execute() {} })`),
      /no action's name/,
    ],
    'registers an action twice': [
      extension('bad', `for (const _ of [1, 2]) poly.registerAction({ name: 'a', execute() {} })`),
      /bad has registered it/,
    ],
    'registers an action that does nothing': [
      extension('bad', `poly.registerAction({ name: 'a' })`),
      /execute/,
    ],
    'asks for an unknown scope': [
      extension('bad', `poly.registerAction({ name: 'a', scope: 'root', execute() {} })`),
      /no known scope/,
    ],
    'has an unknown effect': [
      extension('bad', `poly.registerAction({ name: 'a', effect: 'none', execute() {} })`),
      /no effect/,
    ],
    'takes something else than an object': [
      extension('bad', `poly.registerAction({ name: 'a', parameters: z.string(), execute() {} })`),
      /must be an object/,
    ],
    'has parameters that are no schema': [
      extension('bad', `poly.registerAction({ name: 'a', parameters: { type: 'object' }, execute() {} })`),
      /no zod schema/,
    ],
    'listens to nothing': [extension('bad', `poly.on('', () => {})`), /must say what it listens to/],
  };
  describe('one that is broken', () => {
    let ground: ExtensionsGround;
    const folderOf = (what: string): string => what.replaceAll(/[^a-z]+/g, '-');
    beforeAll(async () => {
      ground = await extensionsGround({ timeoutMs: 1500 });
      const fine = (name: string) =>
        extension(name, `poly.registerAction({ name: 'a', execute: () => ({}) });`);
      ground.plant('a-first', fine('first'));
      for (const [what, [code]] of Object.entries(broken)) ground.plant(folderOf(what), code);
      ground.plant('z-last', fine('last'));
      await ground.extensions.load();
    });
    afterAll(() => ground[Symbol.asyncDispose]());

    test.each(Object.entries(broken))('because it %s is listed so', async (what, [, error]) => {
      expect(await ground.find(folderOf(what))).toEqual({
        name: folderOf(what),
        directory: join(ground.directory, folderOf(what)),
        status: 'broken',
        version: '1.2.3',
        actions: [],
        error: expect.stringMatching(error),
      });
    });

    test('leaves nothing behind and harms no other', async () => {
      expect(ground.registry.list().filter(({ owner }) => owner === 'bad')).toEqual([]);
      expect(await ground.run('first:a')).toEqual({});
      expect(await ground.run('last:a')).toEqual({});
      const warned = ground.log.filter(({ message }) => message === 'an extension is broken and was skipped');
      expect(warned).toHaveLength(Object.keys(broken).length);
    });
  });

  const malformed: Readonly<Record<string, readonly [manifest: string | undefined, error: RegExp]>> = {
    'no package.json': [undefined, /has no package\.json/],
    'a package.json that is no JSON': ['{', /no JSON object/],
    'a package.json that is null': ['null', /no JSON object/],
    'no main': ['{}', /has no "main"/],
    'a main that is no string': ['{"main": 1}', /has no "main"/],
    'a main that is not there': ['{"main": "gone.ts"}', /names no file/],
    'a folder for a main': ['{"main": "."}', /names no file/],
    'a main outside of it': ['{"main": "../../outside.ts"}', /lies outside of it/],
    'a main that is a link out of it': ['{"main": "link.ts"}', /lies outside of it/],
  };
  test('a folder with a bad package.json is listed as broken, and nothing of it is run', async () => {
    await using ground = await extensionsGround();
    const canary = join(ground.root, 'canary');
    const code = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(canary)}, '');`;
    ground.write({ 'outside.ts': code });
    Object.values(malformed).forEach(([manifest], n) => {
      ground.write({
        [`extensions/${n}/index.ts`]: code,
        ...(manifest !== undefined && { [`extensions/${n}/package.json`]: manifest }),
      });
      symlinkSync(join(ground.root, 'outside.ts'), join(ground.directory, `${n}`, 'link.ts'));
    });
    await ground.extensions.load();
    const list = await ground.extensions.list();
    Object.entries(malformed).forEach(([what, [, error]], n) => {
      expect(`${what}: ${list[n]?.status} ${list[n]?.error}`).toMatch(error);
    });
    expect(list.map(({ status }) => status)).toEqual(list.map(() => 'broken'));
    expect(existsSync(canary)).toBe(false);
  });

  test('of two with one name the first folder has it, and the other follows when that has gone', async () => {
    await using ground = await extensionsGround();
    ground.plant(
      'a',
      extension('twin', `poly.registerAction({ name: 'who', execute: () => ({ i: 'a' }) });`),
    );
    ground.plant(
      'b',
      extension('twin', `poly.registerAction({ name: 'who', execute: () => ({ i: 'b' }) });`),
    );
    await ground.extensions.load();
    expect(await ground.find('b')).toMatchObject({
      status: 'broken',
      error: `the name "twin" is taken by the extension in ${join(ground.directory, 'a')}.`,
    });
    expect(await ground.run('twin:who')).toEqual({ i: 'a' });
    await ground.run('extensions:remove', { name: 'twin' });
    expect(await ground.find('twin')).toMatchObject({ directory: join(ground.directory, 'b') });
    expect(await ground.run('twin:who')).toEqual({ i: 'b' });
  });

  test('what others may write to is not loaded', async () => {
    await using ground = await extensionsGround();
    ground.plant('a', greeter);
    chmodSync(ground.directory, 0o770);
    await ground.extensions.load();
    expect(ground.registry.list().filter(({ owner }) => owner === 'greeter')).toEqual([]);
    expect(await ground.failure('extensions:list')).toMatchObject({ code: 'conflict' });
    chmodSync(ground.directory, 0o700);
    expect(await ground.find('greeter')).toBeDefined();
  });

  test('nothing compiled is kept where others could plant theirs', async () => {
    await using ground = await extensionsGround();
    const { TMPDIR } = process.env;
    const temporary = join(ground.root, 'tmp');
    mkdirSync(temporary);
    process.env.TMPDIR = temporary;
    try {
      ground.plant('a', greeter);
      await ground.extensions.load();
      expect(existsSync(join(temporary, 'jiti'))).toBe(false);
    } finally {
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
    }
  });
});

describe('the hot list', () => {
  test.each(['main.ts', 'main.mjs', 'main.cjs', 'main.js'])(
    'reads %s anew when it has changed',
    async (file) => {
      await using ground = await extensionsGround();
      const code = (n: number) =>
        `exports.name = 'hot'; exports.default = (poly) => poly.registerAction({ name: 'n', execute: () => (${n}) });`;
      for (const n of [1, 22]) {
        ground.plant('a', code(n), file);
        expect(await ground.find('hot')).toMatchObject({ status: 'loaded' });
        expect(await ground.run('hot:n')).toBe(n);
      }
    },
  );

  test('notices what came, changed and went by hand', async () => {
    await using ground = await extensionsGround();
    await ground.extensions.load();
    expect(await ground.extensions.list()).toEqual([]);
    const answering = (n: number): string =>
      extension(
        'hot',
        `poly.on('other:*', () => {});
        poly.registerAction({ name: 'n', execute: () => ({ n, from }) });`,
        `import { from } from './from.ts'; const n = ${n};`,
      );
    ground.write({ 'extensions/hot/from.ts': `export const from = 'one';` });
    ground.plant('hot', answering(1));
    expect(await ground.find('hot')).toMatchObject({ status: 'loaded' });
    expect(await ground.run('hot:n')).toEqual({ n: 1, from: 'one' });

    ground.write({ 'extensions/hot/from.ts': `export const from = 'another';` });
    await ground.extensions.list();
    expect(await ground.run('hot:n')).toEqual({ n: 1, from: 'another' });

    ground.plant('hot', 'throw new Error("half done")');
    expect(await ground.find('hot')).toMatchObject({ status: 'broken', error: 'half done' });
    expect(await ground.failure('hot:n')).toMatchObject({ code: 'unknown_action' });

    ground.plant('hot', answering(2));
    expect(await ground.find('hot')).toMatchObject({ status: 'loaded' });
    expect(await ground.run('hot:n')).toEqual({ n: 2, from: 'another' });

    rmSync(join(ground.directory, 'hot'), { recursive: true });
    expect(await ground.extensions.list()).toEqual([]);
    expect(await ground.failure('hot:n')).toMatchObject({ code: 'unknown_action' });
  });

  test('loads what has not changed only once', async () => {
    await using ground = await extensionsGround();
    const canary = join(ground.root, 'canary');
    ground.plant(
      'a',
      extension(
        'a',
        '',
        `import { appendFileSync } from 'node:fs'; appendFileSync(${JSON.stringify(canary)}, 'x');`,
      ),
    );
    ground.plant(
      'b',
      'globalThis.loads = (globalThis.loads ?? 0) + 1; throw new Error(String(globalThis.loads));',
    );
    await Promise.all([ground.extensions.load(), ground.extensions.list(), ground.extensions.list()]);
    expect(await ground.find('b')).toMatchObject({ error: '1' });
    expect(await import('node:fs').then(({ readFileSync }) => readFileSync(canary, 'utf8'))).toBe('x');
  });

  test('leaves files, hidden folders and links that lead nowhere alone', async () => {
    await using ground = await extensionsGround();
    ground.plant('.hidden', greeter);
    ground.write({ 'extensions/README.md': 'hello' });
    symlinkSync('/nowhere', join(ground.directory, 'dangling'));
    await ground.extensions.load();
    expect(await ground.extensions.list()).toMatchObject([{ name: 'dangling', status: 'broken' }]);
  });

  test('an extension is told its end, and can do nothing after it', async () => {
    await using ground = await extensionsGround();
    ground.plant(
      'a',
      extension(
        'a',
        `globalThis.kept = poly;
        poly.registerAction({ name: 'wait', effect: 'read', execute: (_, { signal }) =>
          new Promise((resolve) => signal.addEventListener('abort', () => resolve({ ended: true }))) });`,
      ),
    );
    await ground.extensions.load();
    const waiting = ground.run('a:wait');
    await ground.run('extensions:remove', { name: 'a' });
    expect(await waiting).toEqual({ ended: true });
    const { kept } = globalThis as unknown as {
      kept: {
        signal: AbortSignal;
        on: (name: string, f: () => void) => void;
        emit(name: string): Promise<void>;
      };
    };
    expect(kept.signal.aborted).toBe(true);
    expect(() => kept.on('x', () => undefined)).toThrow('has been unloaded');
    await expect(kept.emit('x')).rejects.toThrow('has been unloaded');
  });
});

describe('actions of an extension', () => {
  test('answer plain data, and are held to the result they declare', async () => {
    await using ground = await extensionsGround();
    ground.plant(
      'a',
      extension(
        'a',
        `const result = z.object({ n: z.number() });
        poly.registerAction({ name: 'fits', result, execute: () => ({ n: 1, more: 2 }) });
        poly.registerAction({ name: 'lies', result, execute: () => ({ n: 'one' }) });
        poly.registerAction({ name: 'circle', execute: () => { const a = {}; a.a = a; return a; } });
        poly.registerAction({ name: 'nothing', execute: () => {} });
        poly.registerAction({ name: 'date', execute: () => ({ at: new Date(0), f() {} }) });
        poly.registerAction({ name: 'throws', execute: () => { throw Object.create(null); } });`,
      ),
    );
    await ground.extensions.load();
    expect(await ground.run('a:fits')).toEqual({ n: 1 });
    expect(await ground.run('a:nothing')).toEqual({});
    expect(await ground.run('a:date')).toEqual({ at: '1970-01-01T00:00:00.000Z' });
    expect(await ground.failure('a:nothing', { more: 1 })).toMatchObject({ code: 'invalid_arguments' });
    expect((await ground.failure('a:lies')).message).toContain(
      'a:lies answered something else than it declares: n must be a number, not "one"',
    );
    expect((await ground.failure('a:circle')).message).toContain(
      'what a:circle answered cannot be written as JSON',
    );
    expect(await ground.failure('a:throws')).toMatchObject({ code: 'action_failed' });
  });

  test('need the scope they name', async () => {
    await using ground = await extensionsGround();
    ground.plant(
      'a',
      extension('a', `poly.registerAction({ name: 'own', scope: 'server:write', execute: () => ({}) });`),
    );
    await ground.extensions.load();
    expect(await ground.run('a:own')).toEqual({});
    expect(await ground.failure('a:own', {}, inPane)).toMatchObject({ code: 'forbidden' });
  });

  test('run others as the extension, with the rights of the user', async () => {
    await using ground = await extensionsGround();
    const canary = join(ground.root, 'canary');
    ground.plant(
      'a',
      extension(
        'runner',
        `poly.registerAction({ name: 'touch', execute: async () => {
          await poly.executeAction('shell:run', { command: ${JSON.stringify(`: > ${canary}`)} });
          const missing = await poly.executeAction('no:thing').catch(({ code }) => code);
          return { missing, cwd: poly.cwd };
        } });`,
      ),
    );
    await ground.extensions.load();
    expect(await ground.run('runner:touch', {}, inPane)).toEqual({
      missing: 'unknown_action',
      cwd: ground.root,
    });
    const started = ground.told.filter(({ event }) => event === 'action:start');
    expect(
      started.map(({ source, pane, payload }) => [
        source,
        pane,
        (payload as { actionName: string }).actionName,
      ]),
    ).toEqual([
      ['agent:pty_1', 'pty_1', 'runner:touch'],
      ['agent:extension.runner', undefined, 'shell:run'],
    ]);
  });
});

describe('events', () => {
  test('are told with who caused them, and emitted under the name of the extension', async () => {
    await using ground = await extensionsGround();
    ground.plant(
      'a',
      extension(
        'listener',
        `poly.on('mail:*, other:thing', (event, { caller, logger }) => {
          logger.info('heard', { event: event.event });
          void poly.emit('heard', { event: event.event, seq: event.seq, payload: event.payload, caller });
        });`,
      ),
    );
    await ground.extensions.load();
    await ground.events.append([
      { event: 'nobody:listens', payload: {}, from: { participant: 'user:ann' } },
      { event: 'mail:sent', payload: { n: 1 }, from: { participant: 'agent:bob', pane: 'pty_2' } },
    ]);
    const heard = await ground.event('listener:heard');
    expect(heard).toMatchObject({
      source: 'agent:extension.listener',
      payload: { event: 'mail:sent', payload: { n: 1 }, caller: { participant: 'agent:bob', pane: 'pty_2' } },
    });
    expect(ground.told.filter(({ event }) => event === 'listener:heard')).toHaveLength(1);
    expect(ground.log).toContainEqual({
      level: 'info',
      message: 'heard',
      fields: { extension: 'listener', fields: { event: 'mail:sent' } },
    });
  });

  test('a bad name or payload is refused, and nobody who does not wait for it is harmed', async () => {
    await using ground = await extensionsGround();
    ground.plant(
      'a',
      extension(
        'a',
        `poly.emit('not awaited', {}); poly.executeAction('no:thing');
        poly.registerAction({ name: 'emit', execute: async () => {
          const failures = [];
          for (const [name, payload] of [['bad name', {}], ['', {}], ['x'.repeat(200), {}], ['big', 1n]])
            await poly.emit(name, payload).catch((error) => failures.push(error.code));
          return failures;
        } });`,
      ),
    );
    await ground.extensions.load();
    expect(await ground.run('a:emit')).toEqual(Array(4).fill('invalid_arguments'));
    expect(ground.told.filter(({ event }) => event.startsWith('a:'))).toEqual([]);
  });

  test('a handler that throws or hangs is told as handler:error, and others go on', async () => {
    await using ground = await extensionsGround({ handlerTimeoutMs: 1000 });
    ground.plant('a', extension('thrower', `poly.on('ping', () => { throw Object.create(null); });`));
    ground.plant(
      'b',
      extension(
        'hanger',
        `poly.on('ping', (_, { signal }) => new Promise(() => {
          signal.addEventListener('abort', () => poly.emit('stopped'));
        }));`,
      ),
    );
    ground.plant('c', extension('third', `poly.on('ping', () => poly.emit('pong'));`));
    await ground.extensions.load();
    await ground.events.append([{ event: 'ping', payload: {}, from: { participant: 'user:ann' } }]);
    await ground.event('third:pong');
    const failed = (by: string) =>
      ground.event('handler:error', ({ payload }) => (payload as { source: string }).source === by);
    expect((await failed('thrower')).payload).toMatchObject({ source: 'thrower', event: 'ping' });
    expect((await failed('hanger')).payload).toMatchObject({
      source: 'hanger',
      event: 'ping',
      error: 'did not end within 1000 ms',
    });
    await ground.event('hanger:stopped');
    expect((await ground.extensions.list()).map(({ status }) => status)).toEqual([
      'loaded',
      'loaded',
      'loaded',
    ]);
  });

  test('one whose handlers hang three times within a minute is switched off', async () => {
    await using ground = await extensionsGround({ handlerTimeoutMs: 50 });
    ground.plant(
      'a',
      extension(
        'hanger',
        `poly.registerAction({ name: 'a', execute: () => ({}) }); poly.on('action:start', () => new Promise(() => {}));`,
      ),
    );
    await ground.extensions.load();
    for (let n = 0; n < 3; n++) await ground.run('shell:run', { command: ':' });
    await ground.event('handler:error', ({ payload }) => JSON.stringify(payload).includes('switched off'));
    expect(await ground.extensions.list()).toMatchObject([
      {
        name: 'hanger',
        status: 'broken',
        actions: [],
        error: expect.stringContaining('hung 3 times within a minute'),
      },
    ]);
    const failures = () => ground.told.filter(({ event }) => event === 'handler:error').length;
    const before = failures();
    await ground.run('shell:run', { command: ':' });
    expect(failures()).toBe(before);
  });

  test('a veto says who, and nothing has been run', async () => {
    await using ground = await extensionsGround();
    ground.plant('a', extension('meek', `poly.on('action:start', () => ({ cancel: 'yes' }));`));
    ground.plant(
      'b',
      extension(
        'strict',
        `poly.on('action:start', ({ payload }) =>
          payload.actionName === 'shell:run' ? { cancel: true, reason: 'not on a Friday' } : undefined);`,
      ),
    );
    await ground.extensions.load();
    const canary = join(ground.root, 'canary');
    const error = await ground.failure('shell:run', { command: `: > ${canary}` });
    expect(error.message).toBe('shell:run was cancelled by strict: not on a Friday');
    expect(error.details).toEqual({ by: 'strict' });
    expect(existsSync(canary)).toBe(false);
    expect(await ground.run('extensions:list')).toHaveLength(2);
  });

  test('a handler cannot change what others see or what is run', async () => {
    await using ground = await extensionsGround();
    ground.plant(
      'a',
      extension(
        'a',
        `poly.registerAction({ name: 'echo', parameters: z.object({ deep: z.object({ n: z.number() }) }), execute: (p) => p });`,
      ),
    );
    ground.plant('b', extension('b', `poly.on('*', (event) => { event.payload.params.deep.n = 666; });`));
    await ground.extensions.load();
    expect(await ground.run('a:echo', { deep: { n: 1 } })).toEqual({ deep: { n: 1 } });
  });

  test('actions that run each other for ever are stopped', async () => {
    await using ground = await extensionsGround();
    for (const [me, other] of [
      ['ping', 'pong'],
      ['pong', 'ping'],
    ])
      ground.plant(
        me as string,
        extension(
          me as string,
          `poly.registerAction({ name: 'go', execute: () => poly.executeAction('${other}:go') });`,
        ),
      );
    await ground.extensions.load();
    expect((await ground.failure('ping:go')).message).toContain('8 actions deep: that looks like a circle');
    expect(ground.told.filter(({ event }) => event === 'action:start').length).toBeLessThan(10);
  });

  test('handlers that cause what they listen to are stopped', async () => {
    await using ground = await extensionsGround();
    ground.plant('a', extension('a', `poly.on('b:*', () => poly.emit('x'));`));
    ground.plant('b', extension('b', `poly.on('a:*', () => poly.emit('x'));`));
    await ground.extensions.load();
    await ground.events.append([{ event: 'a:x', payload: {}, from: { participant: 'user:ann' } }]);
    const error = await ground.event('handler:error');
    expect(error.payload).toMatchObject({
      error: expect.stringContaining('more than 1000 actions and events'),
    });
    const told = ground.told.length;
    await ground.run('shell:run', { command: 'sleep 0.1' });
    expect(ground.told.length - told).toBeLessThan(10);
  });
});

test('what an extension throws where nobody can catch it costs only that extension', async () => {
  await using ground = await extensionsGround();
  const faults: Readonly<Record<string, string>> = {
    'in-timer': `poly.on('boom', () => { setTimeout(() => { throw new Error('late'); }); });`,
    again: `poly.on('boom', () => { setInterval(() => { throw new Error('late'); }).unref(); });`,
    rejected: `poly.on('boom', () => { void Promise.reject(new Error('late')); });`,
    nothing: `poly.on('boom', () => { void Promise.reject(null); });`,
    socket: `poly.on('boom', () => { connect('/nowhere/late'); });`,
    acting: `poly.registerAction({ name: 'a', execute: () => { setTimeout(() => { throw new Error('late'); }); } });`,
    stopping: `poly.on('boom', (_, { signal }) => signal.addEventListener('abort', () => { throw new Error('late'); }));`,
    starting: `void Promise.reject(new Error('late')); await new Promise((resolve) => setTimeout(resolve, 10));`,
  };
  for (const [name, body] of Object.entries(faults))
    ground.plant(name, extension(name, body, `import { connect } from 'node:net';`));
  ground.plant(
    'removed',
    extension('removed', `poly.signal.addEventListener('abort', () => { throw new Error('late'); });`),
  );
  ground.plant(
    'zero',
    extension(
      'zero',
      `poly.registerAction({ name: 'a', execute: () => poly.executeAction('test:defect') });`,
    ),
  );
  const script = join(ground.root, 'hub.ts');
  writeFileSync(
    script,
    `import { nothing } from ${JSON.stringify(import.meta.resolve('@polyphony/protocol'))};
import { extensionsGround } from ${JSON.stringify(join(import.meta.dirname, 'extensions-ground.ts'))};
const ground = await extensionsGround({ directory: ${JSON.stringify(ground.directory)} });
process.on('uncaughtException', (error) => {
  if (ground.extensions.blame(error)) return;
  console.log('ours', error.message);
});
await ground.extensions.load();
await ground.events.append([{ event: 'boom', payload: {}, from: { participant: 'user:ann' } }]);
await ground.run('acting:a');
for (const name of ['in-timer', 'again', 'rejected', 'nothing', 'socket', 'acting', 'stopping'])
  await ground.event('handler:error', ({ payload }) => payload.source === name);
await ground.run('extensions:remove', { name: 'removed' });
const defect = { name: 'test:defect', summary: '', scope: 'pane:read', effect: 'read', params: nothing, result: nothing };
ground.registry.register('test', defect, () => void setTimeout(() => { throw new Error('a defect of the hub'); }));
await ground.run('zero:a');
await new Promise((resolve) => setTimeout(resolve, 10));
console.log(JSON.stringify(await ground.extensions.list()));
await ground[Symbol.asyncDispose]();
`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=polyphony-source', script], {
    timeout: 20_000,
  });
  const [ours, list = ''] = stdout.split('\n');
  expect(ours).toBe('ours a defect of the hub');
  const found = (JSON.parse(list) as ExtensionInfo[]).map(({ name, status, error }) => [
    name,
    status,
    error ?? '',
  ]);
  expect(found).toEqual([
    ...Object.keys(faults)
      .sort()
      .map((name) => [name, 'broken', expect.stringContaining('it threw where nobody could catch it')]),
    ['zero', 'loaded', ''],
  ]);
});

test('an extension that is a link is loaded, and removing it cuts the link alone', async () => {
  await using ground = await extensionsGround();
  ground.plant('mine', greeter);
  renameSync(join(ground.directory, 'mine'), join(ground.root, 'mine'));
  symlinkSync(join(ground.root, 'mine'), join(ground.directory, 'mine'));
  await ground.extensions.load();
  expect(await ground.run('greeter:hello', { to: 'x' })).toBeDefined();
  await ground.run('extensions:remove', { name: 'greeter' });
  expect(await ground.extensions.list()).toEqual([]);
  expect(existsSync(join(ground.root, 'mine', 'index.ts'))).toBe(true);
});
