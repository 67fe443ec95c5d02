import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { walk } from '../src/extensions/manifest.ts';
import { type ExtensionsGround, extension, extensionsGround, inPane } from './extensions-ground.ts';

/** Everything below a folder but the hub's record, with what it holds: equal means that nothing was changed. */
async function contents(root: string): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const { path, entry } of walk(root)) {
    if (entry.name.startsWith('hub.db')) continue;
    lines.push(`${path} ${entry.isFile() && statSync(path).size < 10_000 ? readFileSync(path, 'utf8') : ''}`);
  }
  return lines;
}

const canaryIn = (ground: ExtensionsGround): string => join(ground.root, 'canary');

/** A folder with an extension that is ready to be installed. */
function source(ground: ExtensionsGround, folder: string, code: string = extension(folder)): string {
  ground.write({
    [`${folder}/package.json`]: JSON.stringify({
      main: 'index.ts',
      version: '2.0.0',
      scripts: Object.fromEntries(
        ['preinstall', 'install', 'postinstall', 'prepare'].map((script) => [
          script,
          `touch ${canaryIn(ground)}`,
        ]),
      ),
    }),
    [`${folder}/index.ts`]: code,
  });
  return join(ground.root, folder);
}

function git(folder: string, ...args: readonly string[]): string {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [
        [`GIT_${who}_NAME`, 'Ann'],
        [`GIT_${who}_EMAIL`, 'ann@example.org'],
      ]),
    ),
  };
  return execFileSync('git', args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Makes the folder a repository with one commit, and answers its address. */
function commit(folder: string): string {
  git(folder, 'init', '-q');
  git(folder, 'add', '-A');
  git(folder, 'commit', '-q', '-m', 'first');
  return `file://${folder}`;
}

describe('install', () => {
  test.each(['a folder', 'a git address'])('from %s copies, loads, and runs no script', async (kind) => {
    await using ground = await extensionsGround();
    const folder = source(
      ground,
      'My.Greeter',
      extension(
        'greeter',
        `poly.registerAction({ name: 'hello', execute: () => ({ zod: z === globalThis.z }) });`,
      ),
    );
    ground.write({ 'My.Greeter/lib/deep/file.txt': 'deep' });
    chmodSync(join(folder, 'index.ts'), 0o4777);
    const from = kind === 'a folder' ? folder : commit(folder);
    const before = (await contents(ground.root)).filter((line) => !line.includes('/.git/'));
    const installed = await ground.run('extensions:install', { from });
    const target = join(ground.directory, 'my-greeter');
    expect(installed).toEqual({
      name: 'greeter',
      directory: target,
      status: 'loaded',
      version: '2.0.0',
      actions: ['greeter:hello'],
    });
    expect(await ground.extensions.list()).toEqual([installed]);
    expect(await ground.run('greeter:hello', {}, inPane)).toEqual({ zod: false });
    expect(readFileSync(join(target, 'lib/deep/file.txt'), 'utf8')).toBe('deep');
    expect(statSync(target).mode & 0o777).toBe(0o700);
    for (const file of ['index.ts', 'lib', 'lib/deep/file.txt', 'package.json'])
      expect([file, statSync(join(target, file)).mode & 0o7077]).toEqual([file, 0]);
    expect(existsSync(canaryIn(ground))).toBe(false);
    expect(readdirSync(target)).not.toContain('.git');
    expect(readdirSync(ground.directory)).toEqual(['my-greeter']);
    const outside = (await contents(ground.root)).filter((line) => !line.includes('/.git/'));
    expect(outside.filter((line) => !line.startsWith(ground.directory))).toEqual(
      before.filter((line) => !line.startsWith(ground.directory)),
    );
  });

  test('keeps links between files of the extension, as npm makes them', async () => {
    await using ground = await extensionsGround();
    const folder = source(ground, 'linked');
    ground.write({ 'linked/node_modules/x/cli.js': 'x' });
    mkdirSync(join(folder, 'node_modules/.bin'));
    symlinkSync('../x/cli.js', join(folder, 'node_modules/.bin/x'));
    await ground.run('extensions:install', { from: folder });
    expect(readFileSync(join(ground.directory, 'linked/node_modules/.bin/x'), 'utf8')).toBe('x');
  });

  test('runs no hook, filter or submodule of a repository', async () => {
    await using ground = await extensionsGround();
    const folder = source(ground, 'hooked');
    const touch = `#!/bin/sh\ntouch ${canaryIn(ground)}\n`;
    ground.write({ 'hooked/.gitattributes': '* filter=evil\n' });
    mkdirSync(join(folder, 'hooks'));
    for (const hook of ['post-checkout', 'reference-transaction'])
      writeFileSync(join(folder, 'hooks', hook), touch, { mode: 0o755 });
    const other = source(ground, 'other');
    commit(other);
    git(folder, 'init', '-q');
    git(folder, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', `file://${other}`, 'sub');
    const from = commit(folder);
    // What a careless user may have set: hooks for every repository, and a filter that any repository can ask for.
    const home = join(ground.root, 'home');
    ground.write({
      'home/.gitconfig': `[core]\nhooksPath = ${join(folder, 'hooks')}\n[init]\ntemplateDir = ${join(ground.root, 'template')}\n[filter "evil"]\nsmudge = touch ${canaryIn(ground)}; cat\n[submodule]\nrecurse = true\n`,
      'template/hooks/post-checkout': touch,
      'template/config': `[filter "evil"]\nsmudge = touch ${canaryIn(ground)}; cat\n`,
    });
    chmodSync(join(ground.root, 'template/hooks/post-checkout'), 0o755);
    await withEnvironment({ HOME: home }, () => ground.run('extensions:install', { from }));
    expect(existsSync(canaryIn(ground))).toBe(false);
    expect(readdirSync(join(ground.directory, 'hooked/sub'))).toEqual([]);
  });

  const small = { bytes: 5 * 1024 * 1024, files: 50, gitMs: 20_000 };
  interface Refusal {
    readonly plant: (ground: ExtensionsGround, folder: string) => void;
    readonly code: string;
    readonly message: RegExp;
  }
  const refusals: Readonly<Record<string, Refusal>> = {
    'a link to a file outside': {
      plant: (_, folder) => symlinkSync('/etc/passwd', join(folder, 'passwd')),
      code: 'forbidden',
      message: /a link that leads out of it: passwd/,
    },
    'a link up and out': {
      plant: (_, folder) => symlinkSync('../..', join(folder, 'up')),
      code: 'forbidden',
      message: /a link that leads out of it: up/,
    },
    'a link to the whole of itself by its path': {
      plant: (_, folder) => symlinkSync(join(folder, 'package.json'), join(folder, 'absolute')),
      code: 'forbidden',
      message: /a link that leads out of it: absolute/,
    },
    'a link to everything': {
      plant: (_, folder) => symlinkSync('/', join(folder, 'all')),
      code: 'forbidden',
      message: /a link that leads out of it: all/,
    },
    'a link that leads nowhere': {
      plant: (_, folder) => symlinkSync('gone', join(folder, 'gone-link')),
      code: 'forbidden',
      message: /a link that leads out of it: gone-link/,
    },
    'a file larger than all that is allowed': {
      plant: (_, folder) => {
        writeFileSync(join(folder, 'bomb'), '');
        truncateSync(join(folder, 'bomb'), 6 * 1024 * 1024);
      },
      code: 'too_large',
      message: /more than 50 files or 5 MB/,
    },
    'too many files': {
      plant: (_, folder) => {
        for (let n = 0; n < 51; n++) writeFileSync(join(folder, `${n}`), '');
      },
      code: 'too_large',
      message: /more than 50 files/,
    },
    'no package.json': {
      plant: (_, folder) => writeFileSync(join(folder, 'package.json'), '[]'),
      code: 'invalid_arguments',
      message: /has no "main"/,
    },
    'a main outside of it': {
      plant: (_, folder) => writeFileSync(join(folder, 'package.json'), '{"main": "../../canary.ts"}'),
      code: 'invalid_arguments',
      message: /names no file|lies outside/,
    },
    'code that throws': {
      plant: (_, folder) => writeFileSync(join(folder, 'index.ts'), 'throw new Error("no luck")'),
      code: 'action_failed',
      message: /broken and was not installed: no luck/,
    },
    'code that is none': {
      plant: (_, folder) => writeFileSync(join(folder, 'index.ts'), 'const = 1;'),
      code: 'action_failed',
      message: /broken and was not installed: .*\/bad\/index\.ts/s,
    },
    'code that hangs': {
      plant: (_, folder) =>
        writeFileSync(join(folder, 'index.ts'), extension('bad', 'await new Promise(() => {})')),
      code: 'action_failed',
      message: /did not start within 1500 ms/,
    },
    'a reserved name': {
      plant: (_, folder) => writeFileSync(join(folder, 'index.ts'), extension('session')),
      code: 'action_failed',
      message: /word of the hub's own/,
    },
    'a name that is taken': {
      plant: (_, folder) => writeFileSync(join(folder, 'index.ts'), extension('present')),
      code: 'conflict',
      message: /the name "present" is taken/,
    },
    'the folder name of another': {
      plant: (ground) => ground.plant('bad', extension('somebody-else')),
      code: 'conflict',
      message: /there is an extension in .* already/,
    },
  };
  const kinds = Object.entries(refusals).flatMap(([what, refusal]) => [
    { what, way: 'folder', ...refusal },
    { what, way: 'repository', ...refusal },
  ]);
  test.each(kinds)(
    'a $way with $what is refused, and nothing is left of it',
    async ({ way, plant, code, message }) => {
      await using ground = await extensionsGround({ limits: small, timeoutMs: 1500 });
      ground.plant(
        'present',
        extension('present', `poly.registerAction({ name: 'a', execute: () => ({}) });`),
      );
      const folder = source(ground, 'bad');
      plant(ground, folder);
      await ground.extensions.load();
      const from = way === 'folder' ? folder : commit(folder);
      const before = await contents(ground.root);
      const error = await ground.failure('extensions:install', { from });
      expect(error.message).toMatch(message);
      expect(error.code).toBe(code);
      // Where it was for a moment means nothing to anybody: it goes by what was given.
      expect(error.message).not.toContain('.install-');
      const place = join(ground.directory, 'bad');
      if (!existsSync(place)) expect(error.message).not.toContain(place);
      expect(await contents(ground.root)).toEqual(before);
      expect(await ground.run('present:a')).toEqual({});
    },
  );

  test('an address that cannot be fetched is named as it was given', async () => {
    await using ground = await extensionsGround();
    const from = `file://${join(ground.root, 'nowhere.git')}`;
    const { message } = await ground.failure('extensions:install', { from });
    expect(message).toContain(`git could not fetch ${from}: `);
    expect(message).not.toContain('.install-');
    const plain = await ground.failure('extensions:install', { from: 'http://example.com/a/b.git' });
    expect(plain.message).toMatch(
      /^http:\/\/ is not encrypted: .* \(given: http:\/\/example\.com\/a\/b\.git\)\.$/,
    );
    expect(plain.hint).toContain('https://example.com/a/b.git');
    const secret = await ground.failure('extensions:install', {
      from: 'http://ann:hidden@example.com/b.git',
    });
    expect(`${secret.message} ${secret.hint}`).not.toContain('hidden');
  });

  test('what is neither file, folder nor link is refused', async () => {
    await using ground = await extensionsGround();
    const folder = source(ground, 'bad');
    await using server = createServer().listen(join(folder, 'socket'));
    await once(server, 'listening');
    expect(await ground.failure('extensions:install', { from: folder })).toMatchObject({ code: 'forbidden' });
    expect(readdirSync(ground.directory)).toEqual([]);
  });

  test('50 MB are allowed, and no more', async () => {
    await using ground = await extensionsGround();
    const folder = source(ground, 'large');
    const file = join(folder, 'sparse');
    writeFileSync(file, '');
    truncateSync(file, 50 * 1024 * 1024);
    expect((await ground.failure('extensions:install', { from: folder })).message).toContain(
      '5000 files or 50 MB',
    );
    truncateSync(file, 49 * 1024 * 1024);
    expect(await ground.run('extensions:install', { from: folder })).toMatchObject({ status: 'loaded' });
  });

  test('what git receives is bounded too, not only the files in it', async () => {
    await using ground = await extensionsGround({ limits: { ...small, bytes: 100_000 } });
    const folder = source(ground, 'wordy');
    git(folder, 'init', '-q');
    git(folder, 'add', '-A');
    writeFileSync(join(ground.root, 'message'), randomBytes(200_000).toString('hex'));
    git(folder, 'commit', '-q', '-F', join(ground.root, 'message'));
    expect(await ground.failure('extensions:install', { from: `file://${folder}` })).toMatchObject({
      code: 'too_large',
    });
    expect(readdirSync(ground.directory)).toEqual([]);
  });

  test('a repository that sends too much is stopped while it sends', async () => {
    await using ground = await extensionsGround({ limits: { ...small, bytes: 100_000, gitMs: 15_000 } });
    const folder = source(ground, 'endless');
    writeFileSync(join(folder, 'noise'), randomBytes(2_000_000));
    commit(folder);
    const ssh = join(ground.root, 'ssh');
    // Stops in the middle, as a slow line would.
    const slow = `#!${process.execPath}
const asked = process.argv.at(-1);
const child = require('node:child_process').spawn('sh', ['-c', asked], { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.pipe(child.stdin);
setTimeout(() => process.exit(), 20_000);
let left = 1_000_000;
child.stdout.on('data', (data) => {
  if (left > 0) process.stdout.write(data.subarray(0, left));
  left -= data.length;
});
`;
    writeFileSync(ssh, slow, { mode: 0o755 });
    const error = await withEnvironment({ GIT_SSH: ssh, GIT_SSH_VARIANT: 'simple' }, () =>
      ground.failure('extensions:install', { from: `ssh://example.org${folder}` }),
    );
    expect(error.code).toBe('too_large');
    expect(readdirSync(ground.directory)).toEqual([]);
  });

  test('a tree that git would not make itself is refused', async () => {
    await using ground = await extensionsGround();
    const folder = source(ground, 'slip');
    const from = commit(folder);
    const blob = git(folder, 'rev-parse', 'HEAD:index.ts').trim();
    const raw = Buffer.concat([Buffer.from('100644 ../../../canary\0'), Buffer.from(blob, 'hex')]);
    writeFileSync(join(ground.root, 'tree'), raw);
    const tree = git(
      folder,
      'hash-object',
      '-t',
      'tree',
      '-w',
      '--literally',
      join(ground.root, 'tree'),
    ).trim();
    const slip = git(folder, 'commit-tree', tree, '-m', 'slip').trim();
    git(folder, 'update-ref', 'HEAD', slip);
    expect(await ground.failure('extensions:install', { from })).toMatchObject({ code: 'action_failed' });
    expect(existsSync(canaryIn(ground))).toBe(false);
    expect(readdirSync(ground.directory)).toEqual([]);
  });

  const addresses: Readonly<Record<string, string>> = {
    'ext::sh -c touch% /tmp/poly-canary': 'forbidden',
    'fd::17': 'forbidden',
    'http://example.org/x.git': 'forbidden',
    'git://example.org/x.git': 'forbidden',
    'ftp://example.org/x.git': 'forbidden',
    'https:example.org/x': 'forbidden',
    'ssh://-oProxyCommand=touch/x': 'forbidden',
    'ssh://-oProxyCommand=touch@host/x': 'forbidden',
    'git@-oProxyCommand=touch:x': 'forbidden',
    'git@host:-x': 'forbidden',
    'file://host/x': 'forbidden',
    'https://ann:secret@example.org/x': 'forbidden',
    '--upload-pack=touch /tmp/poly-canary': 'forbidden',
    '-x': 'forbidden',
    'relative/path': 'forbidden',
    '../up': 'forbidden',
    'https://example.org/\nx': 'forbidden',
    '/nowhere/at/all': 'not_found',
    '/etc/passwd': 'not_found',
    'file:///nowhere/at/all': 'action_failed',
  };
  test('an address that is none, or is not for us, is refused', async () => {
    await using ground = await extensionsGround();
    for (const [from, code] of Object.entries(addresses)) {
      const error = await ground.failure('extensions:install', { from });
      expect(`${from}: ${error.code}`).toBe(`${from}: ${code}`);
      expect(error.message).not.toContain('secret');
    }
    expect(readdirSync(ground.directory)).toEqual([]);
  });

  test('the extensions directory, what holds it and what lies in it are refused', async () => {
    await using ground = await extensionsGround();
    ground.plant('mine', extension('mine'));
    for (const from of [ground.directory, ground.root, join(ground.directory, 'mine'), '/'])
      expect(await ground.failure('extensions:install', { from })).toMatchObject({ code: 'forbidden' });
    expect(readdirSync(ground.directory)).toEqual(['mine']);
  });

  test('ten at once are installed one after the other', async () => {
    await using ground = await extensionsGround();
    const names = Array.from({ length: 10 }, (_, n) => `ext-${n}`);
    await Promise.all(names.map((name) => ground.run('extensions:install', { from: source(ground, name) })));
    expect((await ground.extensions.list()).map(({ name }) => name)).toEqual(names);
  });

  test('a program in a pane may not install or remove', async () => {
    await using ground = await extensionsGround();
    const from = source(ground, 'mine');
    expect(await ground.failure('extensions:install', { from }, inPane)).toMatchObject({ code: 'forbidden' });
    expect(await ground.failure('extensions:remove', { name: 'mine' }, inPane)).toMatchObject({
      code: 'forbidden',
    });
  });

  test('what a killed hub has left behind is swept away, and what another is at is not', async () => {
    await using ground = await extensionsGround();
    ground.write({ 'extensions/.install-old/files/x': '', 'extensions/.install-new/files/x': '' });
    utimesSync(join(ground.directory, '.install-old'), 0, 0);
    await ground.extensions.load();
    expect(readdirSync(ground.directory)).toEqual(['.install-new']);
  });
});

describe('remove', () => {
  test('deletes exactly the folder, and follows no link out of it', async () => {
    await using ground = await extensionsGround();
    const code = (name: string) =>
      extension(name, `poly.registerAction({ name: 'a', execute: () => ({}) });`);
    ground.plant('folder', code('mine'));
    ground.plant('mine', code('other'));
    ground.write({ 'precious/file': 'precious' });
    symlinkSync(join(ground.root, 'precious'), join(ground.directory, 'folder', 'link'));
    await ground.extensions.load();
    expect(await ground.run('extensions:remove', { name: 'mine' })).toEqual({});
    expect(readdirSync(ground.directory)).toEqual(['mine']);
    expect(readFileSync(join(ground.root, 'precious/file'), 'utf8')).toBe('precious');
    expect(await ground.failure('mine:a')).toMatchObject({ code: 'unknown_action' });
    expect(await ground.run('other:a')).toEqual({});
  });

  test('takes a broken one by the name of its folder', async () => {
    await using ground = await extensionsGround();
    ground.plant('broken', 'throw 1');
    await ground.run('extensions:remove', { name: 'broken' });
    expect(readdirSync(ground.directory)).toEqual([]);
  });

  test('finds nothing by a path, nor by what is not there', async () => {
    await using ground = await extensionsGround();
    ground.write({ 'precious/file': 'precious', 'extensions/.install-x/y': '' });
    for (const name of ['..', '.', '../precious', '/etc', '.install-x', 'gone'])
      expect(await ground.failure('extensions:remove', { name })).toMatchObject({ code: 'not_found' });
    expect(existsSync(join(ground.root, 'precious/file'))).toBe(true);
    expect(existsSync(join(ground.directory, '.install-x/y'))).toBe(true);
  });

  test('what was removed can be installed again', async () => {
    await using ground = await extensionsGround();
    const answering = (n: number) =>
      source(
        ground,
        'again',
        extension('again', `poly.registerAction({ name: 'n', execute: () => (${n}) });`),
      );
    await ground.run('extensions:install', { from: answering(1) });
    await ground.run('extensions:remove', { name: 'again' });
    await ground.run('extensions:install', { from: answering(2) });
    expect(await ground.run('again:n')).toBe(2);
  });
});

async function withEnvironment<T>(
  changes: Readonly<Record<string, string>>,
  work: () => Promise<T>,
): Promise<T> {
  const before = { ...process.env };
  Object.assign(process.env, changes);
  try {
    return await work();
  } finally {
    process.env = before;
  }
}
