import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { applyEdits, modify, parse as parseJson } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { beforeEach, describe, expect, it } from 'vitest';
import { adapters } from '../src/capture/adapters/adapters.ts';
import { placesOf } from '../src/platform/places.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import { InstallGround } from './install-ground.ts';
import { patched } from './patched.ts';

const shipped = join(import.meta.dirname, '..', 'hooks');
const ground = new InstallGround();
const poly = (words: string, env?: Record<string, string>) => ground.poly(words, env);
const ok = (words: string, env?: Record<string, string>) => ground.ok(words, env);
const write = (file: string, text: string): string => ground.write(file, text);
const read = (file: string): string => ground.read(file);
const everything = (folder?: string) => ground.everything(folder);

let home: string;
beforeEach(() => {
  ({ home } = ground);
});

const json = (file: string) => parseJson(read(file)) as { hooks: Record<string, unknown[]> };
const script = (name = 'capture.sh'): string => join(home, '.poly', 'hooks', name);
const scripts = ['capture.sh', 'context.sh', 'wake.sh'];

type Client = 'claude' | 'codex' | 'cursor' | 'gemini';
const group = (client: string, timeout: number, name = 'capture.sh') => ({
  hooks: [{ type: 'command', command: `${script(name)} ${client}`, timeout }],
});

/** What each writes for an event, in its own unit of time. */
const entryOf: Readonly<Record<Client, (event: string) => unknown>> = {
  claude: () => group('claude', 5),
  codex: (event) => group('codex', ['SessionEnd', 'Interrupt'].includes(event) ? 3 : 5),
  gemini: () => group('gemini', 5000),
  cursor: () => ({ command: `${script()} cursor`, timeout: 5 }),
};

/** Where each is told what lies in its inbox, and where it is woken for it. */
const told: Readonly<Record<Client, Readonly<Record<string, () => readonly unknown[]>>>> = {
  claude: {
    SessionStart: () => [group('claude', 5, 'context.sh'), waker()],
    UserPromptSubmit: () => [group('claude', 5, 'context.sh'), waker()],
    PostToolBatch: () => [group('claude', 5, 'context.sh')],
    Stop: () => [waker()],
  },
  codex: {
    SessionStart: () => [group('codex', 5, 'context.sh')],
    UserPromptSubmit: () => [group('codex', 5, 'context.sh')],
    PostToolUse: () => [group('codex', 5, 'context.sh')],
  },
  gemini: {
    SessionStart: () => [group('gemini', 5000, 'context.sh')],
    BeforeAgent: () => [group('gemini', 5000, 'context.sh')],
    AfterTool: () => [group('gemini', 5000, 'context.sh')],
  },
  cursor: {},
};
const waker = () => ({
  hooks: [{ type: 'command', command: `${script('wake.sh')} claude`, timeout: 90_000, asyncRewake: true }],
});
/** What Claude Code shows below its composer, where its user has nothing there. */
const statusLine = {
  type: 'command',
  command: `${join(import.meta.dirname, '..', 'bin', 'poly')} floor status --line`,
};
const lineOf = (client: Client, flag: string) => client === 'claude' && flag === '' && { statusLine };

const delivers: Readonly<Record<Client, string>> = {
  claude: ', context at 3 of 3, wake at 3 of 3',
  codex: ', context at 3 of 3',
  gemini: ', context at 3 of 3',
  cursor: '',
};

const entriesOf = (client: Client, event: string): readonly unknown[] => [
  entryOf[client](event),
  ...(told[client][event]?.() ?? []),
];
const eventsOf = (client: Client): readonly string[] => Object.keys(adapters[client]?.events ?? {});
const hooksOf = (client: Client) =>
  Object.fromEntries(eventsOf(client).map((event) => [event, entriesOf(client, event)]));

const places: readonly [Client, string, string][] = [
  ['claude', '', '.claude/settings.json'],
  ['claude', ' --project', 'work/project/.claude/settings.json'],
  ['codex', '', '.codex/hooks.json'],
  ['codex', ' --project', 'work/project/.codex/hooks.json'],
  ['gemini', '', '.gemini/settings.json'],
  ['gemini', ' --project', 'work/project/.gemini/settings.json'],
  ['cursor', '', '.cursor/hooks.json'],
  ['cursor', ' --project', 'work/project/.cursor/hooks.json'],
];

/** The hooks of a user, one of them of an event that is captured too. */
function busy(client: Client): string {
  const event = eventsOf(client)[1];
  const own =
    client === 'cursor'
      ? '{ "command": "./mine.sh" }'
      : '{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "mine" }] }';
  const text = `// mine\n{\n    "version": 1,\n    "z": [1, 2], "a": "b", // two on a line\n    "hooks": {\n        /* first */\n        "${event}": [\n            // before\n            ${own} // behind\n        ],\n        "Unheard": [${own}]\n    },\n    "m": null\n}\n`;
  // What is not JSON with comments to its vendor is not given to it with comments.
  return client === 'codex' || client === 'cursor' ? text.replace(/[ \t]*(?:\/\*.*?\*\/|\/\/.*)/g, '') : text;
}

/** Leaves the file and its receipt as a version wrote them that did not know these scripts. */
function forget(unknown: readonly string[]): void {
  const { hooks } = json('.claude/settings.json');
  const older = read('.claude/settings.json');
  let text = older;
  for (const [event, list] of Object.entries(hooks))
    for (const [index, entry] of [...list.entries()].reverse())
      if (unknown.some((name) => JSON.stringify(entry).includes(name)))
        text = applyEdits(text, modify(text, ['hooks', event, index], undefined, {}));
  writeFileSync(join(home, '.claude/settings.json'), text);
  const receipts = join(home, '.poly', 'installed', 'receipts.json');
  const sum = (one: string): string => createHash('sha256').update(one).digest('hex');
  writeFileSync(receipts, readFileSync(receipts, 'utf8').replace(sum(older), sum(text)));
  for (const name of unknown) rmSync(script(name));
}

describe('poly hooks install', () => {
  it.each(places)(
    'writes an entry for every event of %s%s into %s, and takes it out',
    async (client, flag, file) => {
      const before = everything();
      await ok(`hooks install ${client}${flag}`);
      expect(json(file)).toEqual({
        ...(client === 'cursor' && { version: 1 }),
        ...{ hooks: hooksOf(client), ...lineOf(client, flag) },
      });
      for (const name of scripts) {
        expect(readFileSync(script(name), 'utf8')).toBe(readFileSync(join(shipped, name), 'utf8'));
        expect(statSync(script(name)).mode & 0o777).toBe(0o700);
      }
      const count = eventsOf(client).length;
      expect(await ok(`hooks status ${client}${flag}`)).toMatch(
        new RegExp(
          `installed +${join(home, file)} +${count} of ${count} events${delivers[client]}${lineOf(client, flag) ? ', status line' : ''}\n`,
        ),
      );
      const installed = everything();
      expect(await ok(`hooks install ${client}${flag}`)).toContain('unchanged');
      expect(everything()).toEqual(installed);
      await ok(`hooks uninstall ${client}${flag}`);
      expect(everything()).toEqual(before);
      expect(existsSync(join(home, '.poly', 'hooks'))).toBe(false);
    },
  );

  it.each(places)('keeps the hooks, comments and order that %s%s has in %s', async (client, flag, file) => {
    const text = busy(client);
    write(file, text);
    const had = json(file);
    await ok(`hooks install ${client}${flag}`);
    const { hooks, ...others } = json(file);
    expect(others).toEqual({ version: 1, z: [1, 2], a: 'b', m: null, ...lineOf(client, flag) });
    for (const event of eventsOf(client))
      expect([event, hooks[event]]).toEqual([
        event,
        [...(had.hooks[event] ?? []), ...entriesOf(client, event)],
      ]);
    expect(Object.keys(hooks).slice(0, 2)).toEqual(Object.keys(had.hooks));
    for (const comment of ['// mine', '/* first */', '// before', '// behind', '// two on a line'])
      expect(read(file).includes(comment)).toBe(text.includes(comment));
    await ok(`hooks uninstall ${client}${flag}`);
    expect(read(file)).toBe(text);
  });

  it.each(places)(
    'takes only its own out of what %s%s has where others have written since',
    async (client, flag, file) => {
      write(file, busy(client));
      await ok(`hooks install ${client}${flag}`);
      writeFileSync(join(home, file), read(file).replace('"m": null', '"m": true'));
      await ok(`hooks uninstall ${client}${flag}`);
      expect(read(file)).toBe(busy(client).replace('"m": null', '"m": true'));
    },
  );

  it('has what it writes trusted by Codex, beside the comments and the trust of others', async () => {
    const config =
      '# mine\nmodel = "x" # odd\n\n[hooks.state."/other/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n';
    write('.codex/config.toml', config);
    const own = { hooks: [{ type: 'command', command: 'mine' }] };
    write('.codex/hooks.json', JSON.stringify({ hooks: { Stop: [own, own] } }));
    await ok('hooks install codex');
    expect(read('.codex/config.toml').startsWith(config)).toBe(true);
    const { state } = parseToml(read('.codex/config.toml')).hooks as {
      state: Record<string, { trusted_hash: string }>;
    };
    expect(Object.keys(state)).toHaveLength(1 + eventsOf('codex').length + 3);
    // As Codex 0.166 computes it.
    const hook = (event: string, timeout: number, name = 'capture.sh') =>
      `{"event_name":"${event}","hooks":[{"async":false,"command":"${script(name)} codex","timeout":${timeout},"type":"command"}]}`;
    for (const [event, index, timeout, name] of [
      ['stop', 2, 5],
      ['session_end', 0, 3],
      ['pre_tool_use', 0, 5],
      ['post_tool_use', 1, 5, 'context.sh'],
      ['session_start', 1, 5, 'context.sh'],
    ] as const)
      expect(state[`${join(home, '.codex/hooks.json')}:${event}:${index}:0`]?.trusted_hash).toBe(
        `sha256:${createHash('sha256')
          .update(hook(event, timeout, name))
          .digest('hex')}`,
      );
    const trusting = read('.codex/config.toml');
    writeFileSync(join(home, '.codex/config.toml'), config);
    expect(await ok('hooks status codex')).toMatch(/partly .* 14 of 14 events, 17 not trusted/);
    expect(await ok('hooks install codex')).toContain('updated');
    expect(read('.codex/config.toml')).toBe(trusting);
    writeFileSync(join(home, '.codex/config.toml'), `${trusting}\n[later] # on\n`);
    await ok('hooks uninstall codex');
    expect(read('.codex/config.toml')).toBe(`${config}\n[later] # on\n`);
  });

  it('names the file to Codex as Codex does, which follows the links of CODEX_HOME only', async () => {
    mkdirSync(join(home, 'real'));
    symlinkSync('real', join(home, 'linked'));
    await ok('hooks install codex', { CODEX_HOME: join(home, 'linked') });
    expect(read('real/config.toml')).toContain(`"${join(home, 'real/hooks.json')}:stop:0:0"`);
    expect(await ok('hooks status codex', { CODEX_HOME: join(home, 'linked') })).toMatch(/ installed /);
    await ok('hooks uninstall codex', { CODEX_HOME: join(home, 'linked') });
    expect(readdirSync(join(home, 'real'))).toEqual([]);
    write('dotfiles/hooks.json', '{}');
    mkdirSync(join(home, '.codex'));
    symlinkSync('../dotfiles/hooks.json', join(home, '.codex/hooks.json'));
    await ok('hooks install codex');
    expect(read('.codex/config.toml')).toContain(`"${join(home, '.codex/hooks.json')}:stop:0:0"`);
  });

  it('follows a link and keeps it, and the mode of the file', async () => {
    chmodSync(write('dotfiles/settings.json', '{ "a": 1 } // mine\n'), 0o640);
    mkdirSync(join(home, '.claude'));
    symlinkSync('../dotfiles/settings.json', join(home, '.claude/settings.json'));
    await ok('hooks install claude');
    expect(readlinkSync(join(home, '.claude/settings.json'))).toBe('../dotfiles/settings.json');
    expect(json('dotfiles/settings.json').hooks).toEqual(hooksOf('claude'));
    expect(statSync(join(home, 'dotfiles/settings.json')).mode & 0o777).toBe(0o640);
    await ok('hooks uninstall claude');
    expect(read('dotfiles/settings.json')).toBe('{ "a": 1 } // mine\n');
    expect(readdirSync(join(home, 'dotfiles'))).toEqual(['settings.json']);
  });

  it('shares a file with poly mcp install, in whichever order they go', async () => {
    const text = '{\n  "a": 1 // mine\n}\n';
    write('.gemini/settings.json', text);
    await ok('mcp install gemini');
    await ok('hooks install gemini');
    await ok('mcp uninstall gemini');
    expect(json('.gemini/settings.json').hooks).toEqual(hooksOf('gemini'));
    await ok('hooks uninstall gemini');
    expect(read('.gemini/settings.json')).toBe(text);
  });

  it('shows with --dry-run exactly what it would write, and writes nothing', async () => {
    write('.claude/settings.json', busy('claude'));
    write('.codex/config.toml', '# mine\n');
    const before = everything();
    const diff = await ok('hooks install claude codex --dry-run');
    expect([everything(), existsSync(join(home, '.poly'))]).toEqual([before, false]);
    await ok('hooks install claude codex');
    for (const file of [
      '.claude/settings.json',
      '.codex/hooks.json',
      '.codex/config.toml',
      ...scripts.map((name) => `.poly/hooks/${name}`),
    ])
      expect(patched(before[join(home, file)] ?? '', diff, join(home, file))).toBe(read(file));
    const after = everything();
    expect(await ok('hooks uninstall --dry-run')).toContain('-            "timeout": 5');
    expect([everything(), existsSync(script())]).toEqual([after, true]);
  });

  it('tells what was changed, what is missing and an old script, and mends them', async () => {
    write('.claude/settings.json', '{}');
    const status = async (): Promise<Record<string, unknown>> =>
      (JSON.parse(await ok('hooks status claude --json')) as [Record<string, unknown>])[0];
    expect(await status()).toMatchObject({ client: 'claude', state: 'not installed', detected: true });
    await ok('hooks install claude');
    expect(await status()).toMatchObject({ state: 'installed', missing: [], drifted: [], script: 'current' });

    writeFileSync(script(), '#!/bin/sh\n');
    expect(await status()).toMatchObject({ state: 'stale script', script: 'stale' });
    expect(await ok('hooks install claude')).toContain('updated');
    expect(await status()).toMatchObject({ state: 'installed' });
    chmodSync(script(), 0o600);
    expect(await status()).toMatchObject({ state: 'stale script' });
    await ok('hooks install claude');

    const { Stop: _, ...fewer } = hooksOf('claude');
    write('.claude/settings.json', JSON.stringify({ hooks: fewer }));
    expect(await status()).toMatchObject({ state: 'partly', missing: ['Stop'] });
    expect(await ok('hooks install claude')).toContain('updated');
    expect(json('.claude/settings.json').hooks).toEqual(hooksOf('claude'));

    writeFileSync(script('wake.sh'), '#!/bin/sh\n');
    expect(await status()).toMatchObject({ state: 'stale script' });
    rmSync(script('context.sh'));
    expect(await status()).toMatchObject({ state: 'missing script', script: 'missing' });
    expect(await ok('hooks install claude')).toContain('updated');
    write(
      '.claude/settings.json',
      JSON.stringify({ hooks: { ...hooksOf('claude'), Stop: [entryOf.claude('Stop')] } }),
    );
    expect(await status()).toMatchObject({
      ...{ state: 'partly', missing: ['Stop'], hears: '18 of 18 events' },
      delivers: 'context at 3 of 3, wake at 2 of 3',
    });
    expect(await ok('hooks install claude')).toContain('updated');
    expect(json('.claude/settings.json').hooks).toEqual(hooksOf('claude'));

    const mine = { type: 'command', command: 'mine' };
    const [stop, wake] = hooksOf('claude').Stop as [{ hooks: object[] }, object];
    const shared = { matcher: 'x', hooks: [mine, ...stop.hooks] };
    const drifted = JSON.stringify({ hooks: { ...hooksOf('claude'), Stop: [shared] } });
    write('.claude/settings.json', drifted);
    expect(await status()).toMatchObject({ state: 'drifted', drifted: ['Stop'], hears: '17 of 18 events' });
    for (const verb of ['install', 'uninstall']) {
      const { code, stderr } = await poly(`hooks ${verb} claude`);
      expect([code, read('.claude/settings.json')]).toEqual([4, drifted]);
      expect(stderr).toContain(
        `our hooks for Stop in ${join(home, '.claude/settings.json')} are not as poly writes them`,
      );
      expect(stderr).toContain('--force');
    }
    await ok('hooks install claude --force');
    expect(json('.claude/settings.json').hooks.Stop).toEqual([{ matcher: 'x', hooks: [mine] }, stop, wake]);
    write('.claude/settings.json', drifted);
    await ok('hooks uninstall claude --force');
    expect(json('.claude/settings.json')).toEqual({ hooks: { Stop: [{ matcher: 'x', hooks: [mine] }] } });
  });

  it('tells how many events of each agent the record has, and how old the last one is, also without a hub', async () => {
    write('.claude/settings.json', '{}');
    await ok('hooks install claude codex');
    const { database } = placesOf({ POLY_HOME: join(home, '.poly') });
    expect(await ok('hooks status claude')).toMatch(/wake at 3 of 3, status line\n$/);
    const store = await openSqliteStore({ file: database });
    const at = Date.now() - 3 * 3_600_000 - 60_000;
    const insert = (id: string, occurredAt: number) => ({
      sql: `INSERT INTO captures (id, agent, event, kind, tmux, occurred_at, received_at, normalised, raw)
        VALUES (?, 'claude', 'Stop', 'turn_ended', '', ?, 0, '{}', x'')`,
      values: [id, occurredAt],
    });
    await store.commit({ statements: [insert('1', at), insert('2', at - 5_000)] });
    const told = JSON.parse(await ok('hooks status claude codex --json')) as Record<string, unknown>[];
    expect(told.map(({ captured, lastEventAt }) => [captured, lastEventAt])).toEqual([
      [2, new Date(at).toISOString()],
      [0, undefined],
    ]);
    expect(await ok('hooks status claude')).toMatch(/status line, 2 captured, the last 3h ago\n$/);
    await store.close();
    expect(await ok('hooks status claude')).toMatch(/2 captured, the last 3h ago\n$/);
  });

  it('adds what brings messages to the hooks of a version that had none, and still gives the file back as it was', async () => {
    write('.claude/settings.json', busy('claude'));
    await ok('hooks install claude');
    forget(['context.sh', 'wake.sh']);
    expect(read('.claude/settings.json')).not.toContain('wake.sh');
    expect(await ok('hooks status claude')).toMatch(
      /partly .* 18 of 18 events, context at 0 of 3, wake at 0 of 3/,
    );
    expect(await ok('hooks install claude')).toContain('updated');
    expect(json('.claude/settings.json').hooks.Stop).toEqual(entriesOf('claude', 'Stop'));
    await ok('hooks uninstall claude');
    expect(read('.claude/settings.json')).toBe(busy('claude'));
  });

  it('knows its own where somebody put several of them into one group', async () => {
    write('.claude/settings.json', '{}');
    await ok('hooks install claude');
    const [capture, wake] = entriesOf('claude', 'Stop') as { hooks: object[] }[];
    const together = { hooks: [...(capture?.hooks ?? []), ...(wake?.hooks ?? [])] };
    const mine = { type: 'command', command: 'mine' };
    const shared = { hooks: [...(capture?.hooks ?? []), mine, ...(wake?.hooks ?? [])] };
    write(
      '.claude/settings.json',
      JSON.stringify({ hooks: { ...hooksOf('claude'), Stop: [together], SessionEnd: [shared] } }),
    );
    expect((await poly('hooks uninstall claude')).stderr).toContain('our hooks for Stop, SessionEnd in');
    await ok('hooks uninstall claude --force');
    expect(json('.claude/settings.json')).toEqual({ hooks: { SessionEnd: [{ hooks: [mine] }] } });
  });

  it('tells at events that are captured, and that context.sh answers', () => {
    const answers = readFileSync(join(shipped, 'context.sh'), 'utf8');
    for (const client of Object.keys(told) as Client[])
      for (const [event, entries] of Object.entries(told[client])) {
        expect(eventsOf(client)).toContain(event);
        if (JSON.stringify(entries()).includes('context.sh')) expect(answers).toContain(`${client}:${event}`);
      }
  });

  it('leaves a status line of the user’s own alone, and says so', async () => {
    const text = '{\n  "statusLine": { "type": "command", "command": "mine" } // mine\n}\n';
    write('.claude/settings.json', text);
    const says = expect.stringContaining(`let it run: ${statusLine.command}\n`);
    expect(await poly('hooks install claude --dry-run')).toMatchObject({ code: 0, stderr: says });
    expect(await poly('hooks install claude')).toMatchObject({ code: 0, stderr: says });
    expect(read('.claude/settings.json')).toContain('"command": "mine" }, // mine');
    expect(await ok('hooks status claude')).toContain(', a status line of your own');
    const [{ statusLine: told }] = JSON.parse(await ok('hooks status claude --json')) as [
      { statusLine: string },
    ];
    expect(told).toBe('own');
    await ok('hooks uninstall claude');
    expect(read('.claude/settings.json')).toBe(text);
  });

  it('writes its status line anew where another poly wrote it, and takes out its own and no other', async () => {
    const older = (command: string): string =>
      JSON.stringify({ m: 1, statusLine: { type: 'command', command } });
    for (const command of ["'/old place/bin/poly' floor status --line", 'poly floor status --line']) {
      write('.claude/settings.json', older(command));
      expect(await ok('hooks status claude --json')).not.toContain('statusLine');
      await ok('hooks install claude');
      expect(json('.claude/settings.json')).toMatchObject({ m: 1, statusLine });
      // Somebody has written there since, so that the file is not given back as it was.
      writeFileSync(
        join(home, '.claude/settings.json'),
        read('.claude/settings.json').replace('"m":1', '"m":2'),
      );
      await ok('hooks uninstall claude');
      expect(json('.claude/settings.json')).toEqual({ m: 2 });
    }
    const mixed = older('poly floor status --line; mine');
    write('.claude/settings.json', mixed);
    await ok('hooks install claude').catch(() => undefined);
    const theirs = { type: 'command', command: 'theirs', padding: 0 };
    const { hooks } = json('.claude/settings.json');
    write('.claude/settings.json', JSON.stringify({ hooks, statusLine: theirs }));
    await ok('hooks uninstall claude');
    expect(json('.claude/settings.json')).toEqual({ statusLine: theirs });
    // What is left of ours without a hook goes too.
    write('.claude/settings.json', JSON.stringify({ statusLine }));
    await ok('hooks uninstall claude');
    expect(json('.claude/settings.json')).toEqual({});
  });

  it('finds who is there, and keeps the script while one of them needs it', async () => {
    const { code, stderr } = await poly('hooks install');
    expect([code, stderr]).toEqual([
      3,
      'poly: no coding agent with hooks was found here. Name one: claude, codex, cursor, gemini.\n',
    ]);
    write('.codex/auth.json', '{}');
    chmodSync(write('bin/cursor', ''), 0o755);
    const done = JSON.parse(await ok('hooks install --json')) as { client: string; state: string }[];
    expect(done.map(({ client, state }) => `${client} ${state}`)).toEqual(['codex added', 'cursor added']);
    expect(await ok('hooks status')).toMatch(/Claude Code +not found here/);
    await ok('hooks uninstall codex');
    expect(existsSync(script())).toBe(true);
    await ok('hooks uninstall');
    expect(existsSync(script())).toBe(false);
  });

  it('has its gaps told in docs/capture.md', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/capture.md'), 'utf8');
    for (const client of ['claude', 'codex', 'cursor', 'gemini'])
      expect(page).toContain(`| \`${client}\` | ${adapters[client]?.gaps.join('; ')} |`);
  });

  it('keeps a backup of what it changes where nobody else can read it', async () => {
    write('.claude/settings.json', '{ "secret": "s3cret" }');
    const [{ backup }] = JSON.parse(await ok('hooks install claude --json')) as [{ backup: string }];
    expect(readFileSync(backup, 'utf8')).toBe('{ "secret": "s3cret" }');
    expect(statSync(backup).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['.claude/settings.json', 'claude', '{\n  "a": 1\n  "b": 2\n}', ':3:3 is no JSON: comma expected.'],
    ['.cursor/hooks.json', 'cursor', '{ "hooks": [] }', 'hooks in '],
    ['.claude/settings.json', 'claude', '{ "hooks": null }', 'hooks in '],
    ['.gemini/settings.json', 'gemini', '{ "hooks": { "AfterAgent": {} } }', 'hooks.AfterAgent in '],
    ['.codex/config.toml', 'codex', 'a = = 1\n', ':1:5 is no TOML: '],
    ['.codex/config.toml', 'codex', 'hooks = { state = {} }\n', 'cannot change without touching the rest'],
  ])('leaves everything as it is where %s of %s makes no sense: %j', async (file, client, text, message) => {
    write(file, text);
    const before = everything();
    const { code, stderr } = await poly(`hooks install ${client}`);
    expect([code, everything(), existsSync(script())]).toEqual([4, before, false]);
    expect(stderr).toContain(message);
    expect(stderr).toContain(join(home, file));
  });

  it('changes nothing where one of the files is read-only, and says which', async () => {
    const path = write('.codex/config.toml', '');
    chmodSync(path, 0o444);
    const { code, stderr } = await poly('hooks install codex');
    expect([code, stderr]).toEqual([
      4,
      `poly: ${path} is read-only. Nothing was changed. To let poly change it: chmod u+w ${path}\n`,
    ]);
    expect(existsSync(join(home, '.codex/hooks.json'))).toBe(false);
  });

  it('names the client that was probably meant, and completes them', async () => {
    expect((await poly('hooks install claud')).stderr).toBe(
      'poly: there is no client "claud". Did you mean claude? Those with hooks are claude, codex, cursor, gemini.\n',
    );
    expect(await poly('hooks status vscode')).toMatchObject({
      code: 2,
      stderr:
        'poly: VS Code has no hooks that poly knows. Those with hooks are claude, codex, cursor, gemini.\n',
    });
    expect((await poly('hooks install opencode')).stderr).toBe(
      'poly: OpenCode has no hooks that poly knows. Its plugin tells in their place: see docs/capture.md. Those with hooks are claude, codex, cursor, gemini.\n',
    );
    const complete = async (...words: string[]) =>
      (await ground.cli.run(['__complete', ...words])).stdout.trim().split('\n');
    expect(await complete('hooks', '')).toEqual(['install', 'status', 'uninstall']);
    expect(await complete('hooks', 'install', 'claude', '')).toEqual(['claude', 'codex', 'cursor', 'gemini']);
  });

  it('writes commands that a shell can start in a home with spaces and quotes', async () => {
    const odd = join(home, `it's a home`, '.poly');
    await ok('hooks install claude', { POLY_HOME: odd });
    expect(await ok('hooks status claude', { POLY_HOME: odd })).toMatch(/ installed /);
    const [{ hooks }] = json('.claude/settings.json').hooks.Stop as [{ hooks: [{ command: string }] }];
    const { status, output } = spawnSync('sh', ['-c', hooks[0].command], {
      env: { PATH: process.env.PATH, HOME: home, POLY_HOME: odd },
      input: '{"hook_event_name":"Stop"}',
    });
    expect([status, String(output)]).toEqual([0, ',,']);
    const [event = ''] = readdirSync(join(odd, 'journal', 'new'));
    expect(readFileSync(join(odd, 'journal', 'new', event), 'utf8')).toMatch(/agent claude\n[\s\S]*"Stop"}$/);
  });
});
