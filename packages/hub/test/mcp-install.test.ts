import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { parse as parseJson } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { beforeEach, describe, expect, it } from 'vitest';
import { InstallGround } from './install-ground.ts';
import { patched } from './patched.ts';

const launcher = join(import.meta.dirname, '..', 'bin', 'poly');
const ground = new InstallGround();
const poly = (words: string, env?: Record<string, string>) => ground.poly(words, env);
const ok = (words: string, env?: Record<string, string>) => ground.ok(words, env);
const write = (file: string, text: string): string => ground.write(file, text);
const read = (file: string): string => ground.read(file);
const everything = (folder?: string) => ground.everything(folder);

let home: string;
let project: string;
beforeEach(() => {
  ({ home, project } = ground);
});

const data = (file: string): Record<string, Record<string, unknown>> =>
  file.endsWith('.toml') ? (parseToml(read(file)) as never) : parseJson(read(file));

const plain = { command: launcher, args: ['mcp'] };
const codexVariables = [
  'POLY_HOME',
  'POLY_PANE',
  'POLY_TOKEN',
  'POLY_SOCKET',
  'POLY_NODE',
  'XDG_RUNTIME_DIR',
  'TMUX',
  'TMUX_PANE',
];
const claude = { type: 'stdio', ...plain, alwaysLoad: true };
const codex = { ...plain, env_vars: codexVariables, tool_timeout_sec: 300 };
const gemini = { ...plain, env: { POLY_TOKEN: '$POLY_TOKEN' } };
const vscode = { type: 'stdio', ...plain };
const opencode = { type: 'local', command: [launcher, 'mcp'], enabled: true };
const inProject = (file: string) => `work/project/${file}`;

/** Where each client reads, under which key, and in which words. */
const places = [
  ['claude', 'user', '.claude.json', 'mcpServers', claude],
  ['claude', 'project', inProject('.mcp.json'), 'mcpServers', claude],
  ['codex', 'user', '.codex/config.toml', 'mcp_servers', codex],
  ['codex', 'project', inProject('.codex/config.toml'), 'mcp_servers', codex],
  ['cursor', 'user', '.cursor/mcp.json', 'mcpServers', plain],
  ['cursor', 'project', inProject('.cursor/mcp.json'), 'mcpServers', plain],
  ['gemini', 'user', '.gemini/settings.json', 'mcpServers', gemini],
  ['gemini', 'project', inProject('.gemini/settings.json'), 'mcpServers', gemini],
  ['grok', 'user', '.grok/config.toml', 'mcp_servers', plain],
  ['grok', 'project', inProject('.grok/config.toml'), 'mcp_servers', plain],
  ['antigravity', 'user', '.gemini/antigravity/mcp_config.json', 'mcpServers', plain],
  ['antigravity', 'user', '.gemini/config/mcp_config.json', 'mcpServers', plain],
  ['opencode', 'user', '.config/opencode/opencode.jsonc', 'mcp', opencode],
  ['opencode', 'project', inProject('opencode.json'), 'mcp', opencode],
  ['vscode', 'user', '.config/Code/User/mcp.json', 'servers', vscode],
  ['vscode', 'project', inProject('.vscode/mcp.json'), 'servers', vscode],
] as const;

const busyJson = (table: string): string =>
  `// mine\n{\n    "z": [1, 2], "a": "b", // two on a line\n    /* servers */\n    "${table}": {\n        "other": { "command": "x" } // last\n    },\n    "m": null\n}\n`;
const busyToml =
  '# mine\nmodel = "x"   # odd   space\n\n[mcp_servers.other]\ncommand = "x"\n\n[z]\na = """\n[mcp_servers.poly]\n"""\n';

describe('poly mcp install', () => {
  it.each(places)(
    'writes what %s reads for a %s into %s, and takes it out again',
    async (client, scope, file, table, entry) => {
      const before = everything();
      await ok(`mcp install ${client} --scope ${scope}`);
      expect(data(file)).toEqual({ [table]: { poly: entry } });
      expect(await ok(`mcp status ${client} --scope ${scope}`)).toContain(`installed  ${join(home, file)}`);
      const installed = everything();
      expect(await ok(`mcp install ${client} --scope ${scope}`)).toContain('unchanged');
      expect(everything()).toEqual(installed);
      await ok(`mcp uninstall ${client} --scope ${scope}`);
      expect(everything()).toEqual(before);
    },
  );

  it.each(places)(
    'keeps what %s has for a %s in %s, to the byte when it goes',
    async (client, scope, file, table, entry) => {
      const text = file.endsWith('.toml') ? busyToml : busyJson(table);
      write(file, text);
      const had = data(file);
      await ok(`mcp install ${client} --scope ${scope}`);
      expect(data(file)).toEqual({ ...had, [table]: { ...had[table], poly: entry } });
      expect(removedLines(text, read(file))).toEqual(
        file.endsWith('.toml') ? [] : ['        "other": { "command": "x" } // last'],
      );
      await ok(`mcp uninstall ${client} --scope ${scope}`);
      expect(read(file)).toBe(text);
    },
  );

  it('shows with --dry-run exactly what it would write, and writes nothing', async () => {
    write('.codex/config.toml', busyToml.trimEnd());
    write('.claude.json', busyJson('mcpServers').replaceAll('\n', '\r\n'));
    const before = everything();
    const diff = await ok('mcp install claude codex cursor --dry-run');
    expect(everything()).toEqual(before);
    expect(existsSync(join(home, '.poly'))).toBe(false);
    await ok('mcp install claude codex cursor');
    const after = everything();
    for (const file of ['.claude.json', '.codex/config.toml', '.cursor/mcp.json'].map((name) =>
      join(home, name),
    ))
      expect(patched(before[file] ?? '', diff, file)).toBe(after[file]);

    const back = await ok('mcp uninstall --dry-run');
    expect(everything()).toEqual(after);
    expect(patched(after[join(home, '.claude.json')] ?? '', back, join(home, '.claude.json'))).toBe(
      before[join(home, '.claude.json')],
    );
  });

  it('finds who is there by what they leave in a home and by their programs', async () => {
    const { code, stderr } = await poly('mcp install');
    expect([code, stderr]).toEqual([
      3,
      'poly: no coding agent was found here. Name one: claude, codex, cursor, gemini, grok, antigravity, opencode, vscode. Or a file: --config FILE\n',
    ]);
    write('.codex/auth.json', '{}');
    chmodSync(write('bin/cursor', ''), 0o755);
    const done = JSON.parse(await ok('mcp install --json')) as { client: string; state: string }[];
    expect(done.map(({ client, state }) => `${client} ${state}`)).toEqual(['codex added', 'cursor added']);
    const status = JSON.parse(await ok('mcp status --json')) as { client: string; detected: boolean }[];
    expect(status.filter(({ detected }) => detected).map(({ client }) => client)).toEqual([
      'codex',
      'cursor',
    ]);
  });

  it('asks the environment where a client keeps its files', async () => {
    const env = {
      CODEX_HOME: join(home, 'c'),
      CLAUDE_CONFIG_DIR: join(home, 'd'),
      XDG_CONFIG_HOME: join(home, 'x'),
      GROK_HOME: join(home, 'g'),
    };
    await ok('mcp install codex claude opencode vscode grok', env);
    for (const file of [
      'c/config.toml',
      'g/config.toml',
      'd/.claude.json',
      'x/opencode/opencode.jsonc',
      'x/Code/User/mcp.json',
    ])
      expect(read(file)).toContain(launcher);
  });

  it('takes the file of OpenCode that is there', async () => {
    write('.config/opencode/opencode.json', '{}');
    await ok('mcp install opencode');
    expect(data('.config/opencode/opencode.json')).toEqual({ mcp: { poly: opencode } });
    expect(existsSync(join(home, '.config/opencode/opencode.jsonc'))).toBe(false);
  });

  it('says poly where that is this very command, and its full path otherwise', async () => {
    mkdirSync(join(home, 'bin'));
    symlinkSync(launcher, join(home, 'bin', 'poly'));
    await ok('mcp install cursor');
    expect(data('.cursor/mcp.json').mcpServers?.poly).toEqual({ command: 'poly', args: ['mcp'] });
    const passing = join(home, 'node_modules', '.bin');
    mkdirSync(passing, { recursive: true });
    symlinkSync(launcher, join(passing, 'poly'));
    await ok('mcp install cursor', { PATH: passing });
    expect(data('.cursor/mcp.json').mcpServers?.poly).toEqual(plain);
    const another = dirname(write('other/poly', '#!/bin/sh\n'));
    chmodSync(join(another, 'poly'), 0o755);
    expect(await ok('mcp install cursor', { PATH: another })).toContain('unchanged');
  });

  it('carries flags and a name into the entry, and changes its own in its place', async () => {
    write('.cursor/mcp.json', busyJson('mcpServers'));
    write('.codex/config.toml', busyToml);
    const before = everything();
    await ok('mcp install cursor codex');
    await ok('mcp install cursor codex --toolsets panes,actions --safety readonly');
    const args = ['mcp', '--toolsets', 'panes,actions', '--safety', 'readonly'];
    expect(data('.cursor/mcp.json').mcpServers?.poly).toEqual({ ...plain, args });
    expect(data('.codex/config.toml').mcp_servers?.poly).toEqual({ ...codex, args });
    await ok(
      'mcp install cursor --toolsets tmux --operations --socket-path /tmp/a.sock --no-caller-socket --name terminals',
    );
    expect(data('.cursor/mcp.json').mcpServers?.terminals).toEqual({
      ...plain,
      args: [
        'mcp',
        '--toolsets',
        'tmux',
        '--socket-path',
        '/tmp/a.sock',
        '--operations',
        '--no-caller-socket',
      ],
    });
    await ok('mcp install cursor --name terminals');
    expect(Object.keys(data('.cursor/mcp.json').mcpServers ?? {})).toEqual(['other', 'poly', 'terminals']);
    await ok('mcp uninstall cursor --name terminals');
    await ok('mcp uninstall cursor codex');
    expect(everything()).toEqual(before);
    for (const words of [
      '--toolsets pains',
      '--safety none',
      '--socket-path a --socket-name b',
      '--name __proto__',
      '--name a.b',
    ])
      expect([words, (await poly(`mcp install cursor ${words}`)).code]).toEqual([words, 2]);
    expect(everything()).toEqual(before);
  });

  it('writes into any file, in the way that file is written', async () => {
    write('a.json', '{"servers":{}}');
    write('b.toml', '');
    write('opencode.json', '');
    for (const file of ['a.json', 'b.toml', 'opencode.json', 'new.json'])
      await ok(`mcp install --config ${join(home, file)}`);
    expect(data('a.json')).toEqual({ servers: { poly: vscode } });
    expect(data('b.toml')).toEqual({ mcp_servers: { poly: plain } });
    expect(data('opencode.json')).toEqual({ mcp: { poly: opencode } });
    expect(data('new.json')).toEqual({ mcpServers: { poly: plain } });
    await ok(`mcp install claude --config ${join(home, 'new.json')}`);
    expect(data('new.json')).toEqual({ mcpServers: { poly: claude } });
    await ok(`mcp uninstall --config ${join(home, 'a.json')}`);
    expect(read('a.json')).toBe('{"servers":{}}');
    expect((await poly('mcp install claude codex --config x')).code).toBe(2);
    expect((await poly('mcp install --config x --scope project')).code).toBe(2);
  });

  it('never replaces an entry that is not ours, unless it is forced to, and gives it back', async () => {
    const foreign = '{ "mcpServers": { "poly": { "command": "npx", "args": ["something"] } } }\n';
    const changed = `{ "mcpServers": { "poly": { "command": "poly", "args": ["mcp"], "env": { "A": "1" } } } }\n`;
    for (const text of [foreign, changed]) {
      const path = write('.cursor/mcp.json', text);
      for (const verb of ['install', 'uninstall']) {
        const { code, stderr } = await poly(`mcp ${verb} cursor`);
        expect([code, read('.cursor/mcp.json')]).toEqual([4, text]);
        expect(stderr).toContain(`the entry "poly" in ${path} is not as poly writes it`);
        expect(stderr).toContain('--force');
      }
      expect(await ok('mcp status cursor')).toContain('not ours');
      await ok('mcp install cursor --force');
      expect(data('.cursor/mcp.json')).toEqual({ mcpServers: { poly: plain } });
      await ok('mcp uninstall cursor');
      expect(read('.cursor/mcp.json')).toBe(text);
    }
    write('.codex/config.toml', '[mcp_servers.poly]\nurl = "https://example.com"\n');
    expect((await poly('mcp install codex')).stderr).toContain('it starts no program');
  });

  it('takes out only its own where others have written since', async () => {
    write('.claude.json', '{\n  "a": 1\n}\n');
    write('.codex/config.toml', '# first\n');
    await ok('mcp install claude codex');
    writeFileSync(join(home, '.claude.json'), JSON.stringify({ ...data('.claude.json'), b: 2 }));
    writeFileSync(join(home, '.codex/config.toml'), `${read('.codex/config.toml')}\n[b] # second\n`);
    await ok('mcp uninstall');
    expect(read('.claude.json')).toBe('{"a":1,"b":2}');
    expect(read('.codex/config.toml')).toBe('# first\n\n[b] # second\n');
  });

  it('keeps a backup of what it changes where nobody else can read it', async () => {
    write('.claude.json', '{ "secret": "s3cret" }');
    const [{ backup }] = JSON.parse(await ok('mcp install claude --json')) as [{ backup: string }];
    expect(readFileSync(backup, 'utf8')).toBe('{ "secret": "s3cret" }');
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(backup)).mode & 0o777).toBe(0o700);
  });

  it.each([
    ['.cursor/mcp.json', 'cursor', '{\n  "a": 1\n  "b": 2\n}', ':3:3 is no JSON: comma expected.'],
    ['.codex/config.toml', 'codex', 'a = 1\nb = = 2\n', ':2:5 is no TOML: '],
    ['.cursor/mcp.json', 'cursor', '[]', ':1:1 is no JSON: an object is expected.'],
    ['.cursor/mcp.json', 'cursor', '{ "mcpServers": [] }', 'mcpServers in '],
    [
      '.codex/config.toml',
      'codex',
      'mcp_servers = { a = { command = "x" } }\n',
      'cannot change without touching the rest',
    ],
    ['.cursor/mcp.json', 'cursor', '{ "mcpServers": { "poly": 1, "poly": 2 } }', 'is not as poly writes it'],
  ])('leaves a file it cannot read as it is, and says where: %s %s', async (file, client, text, message) => {
    write(file, text);
    const { code, stderr } = await poly(`mcp install ${client}`);
    expect([code, read(file)]).toEqual([4, text]);
    expect(stderr).toContain(message);
    expect(stderr).toContain(join(home, file));
  });

  it('goes on with the others when one is refused', async () => {
    write('.cursor/mcp.json', '{');
    const { code, stdout, stderr } = await poly('mcp install cursor codex');
    expect(code).toBe(4);
    expect(stdout).toMatch(/Cursor +refused/);
    expect(stdout).toMatch(/Codex +added/);
    expect(stderr).toContain('mcp.json:1:2 is no JSON');
    expect(read('.cursor/mcp.json')).toBe('{');
  });

  it('refuses bytes that are no text, a read-only file, a folder, a pipe, and a link that leads nowhere', async () => {
    const path = write('.cursor/mcp.json', '{}');
    writeFileSync(path, Buffer.from([0x7b, 0xff, 0x7d]));
    expect((await poly('mcp install cursor')).stderr).toContain('is not text in UTF-8');
    writeFileSync(path, '{}');
    chmodSync(path, 0o444);
    const { code, stderr } = await poly('mcp install cursor');
    expect([code, stderr]).toEqual([
      4,
      `poly: ${path} is read-only. Nothing was changed. To let poly change it: chmod u+w ${path}\n`,
    ]);
    expect(read('.cursor/mcp.json')).toBe('{}');
    mkdirSync(join(home, '.claude.json'));
    expect((await poly('mcp install claude')).stderr).toContain('is a folder');
    mkdirSync(join(home, '.grok'));
    execFileSync('mkfifo', [join(home, '.grok/config.toml')]);
    for (const verb of ['install', 'status', 'uninstall'])
      expect((await poly(`mcp ${verb} grok`)).stderr).toContain('is no file that could be read');
    mkdirSync(join(home, '.codex'));
    symlinkSync('nowhere', join(home, '.codex/config.toml'));
    expect((await poly('mcp install codex')).stderr).toContain('is a link that leads nowhere');
  });

  it('follows a link and keeps it, and the mode of the file', async () => {
    chmodSync(write('dotfiles/mcp.json', '{}'), 0o640);
    mkdirSync(join(home, '.cursor'));
    symlinkSync('../dotfiles/mcp.json', join(home, '.cursor/mcp.json'));
    await ok('mcp install cursor');
    expect(readlinkSync(join(home, '.cursor/mcp.json'))).toBe('../dotfiles/mcp.json');
    expect(data('dotfiles/mcp.json')).toEqual({ mcpServers: { poly: plain } });
    expect(lstatSync(join(home, 'dotfiles/mcp.json')).mode & 0o777).toBe(0o640);
    await ok('mcp uninstall cursor');
    expect(read('dotfiles/mcp.json')).toBe('{}');
    expect(readdirSync(join(home, 'dotfiles'))).toEqual(['mcp.json']);
  });

  it.each([
    ['nothing', ''],
    ['a comment', '// later\n'],
    ['space in the braces', '{ }'],
    ['lines of Windows', '{\r\n\t"a": 1\r\n}\r\n'],
    ['commas too many', '{\n  "mcpServers": {\n    "a": { "command": "x", },\n  },\n}\n'],
    ['a byte order mark', '\ufeff{\n  "a": 1\n}'],
    ['one line', '{"a":1,"mcpServers":{"b":{"command":"x"}}}'],
  ])('writes into a file with %s', async (_, text) => {
    write('.cursor/mcp.json', text);
    await ok('mcp install cursor');
    const made = read('.cursor/mcp.json');
    const { mcpServers } = parseJson(made.replace('\ufeff', '')) as Record<string, Record<string, unknown>>;
    expect(mcpServers?.poly).toEqual(plain);
    expect([made.startsWith('\ufeff'), /[^\r]\n/.test(made)]).toEqual([
      text.startsWith('\ufeff'),
      !text.includes('\r') && !text.startsWith('{"a"'),
    ]);
    await ok('mcp uninstall cursor');
    expect(read('.cursor/mcp.json')).toBe(text);
  });

  it('names the client or the command that was probably meant', async () => {
    expect((await poly('mcp install curser')).stderr).toBe(
      'poly: there is no client "curser". Did you mean cursor? Any other file: --config FILE\n',
    );
    expect((await poly('mcp instal')).stderr).toBe(
      'poly: there is no command "mcp instal". Did you mean mcp install? See poly mcp --help.\n',
    );
    const { code, stderr } = await poly('mcp install antigravity --scope project');
    expect(code).toBe(2);
    expect(stderr).toContain('--config FILE');
  });

  it('tells of an entry whose program is gone', async () => {
    write(
      '.cursor/mcp.json',
      JSON.stringify({ mcpServers: { poly: { command: '/gone/poly', args: ['mcp'] } } }),
    );
    expect(await ok('mcp status cursor')).toMatch(/its program is gone.*\/gone\/poly mcp/);
    await ok('mcp install cursor');
    expect(data('.cursor/mcp.json').mcpServers?.poly).toEqual(plain);
  });

  it('completes clients and verbs', async () => {
    const complete = async (...words: string[]) =>
      (await ground.cli.run(['__complete', ...words])).stdout.trim().split('\n');
    expect(await complete('mcp', '')).toEqual(['install', 'status', 'uninstall']);
    expect(await complete('mcp', 'install', 'c')).toEqual(['claude', 'codex', 'cursor']);
    expect(await complete('mcp', 'install', 'claude', 'g')).toEqual(['gemini', 'grok']);
    expect(await complete('mcp', 'install', '--sc')).toEqual(['--scope']);
  });

  it('writes an entry that works', async () => {
    await ok('mcp install cursor --safety readonly');
    const { command, args } = (data('.cursor/mcp.json').mcpServers?.poly ?? {}) as typeof plain;
    const client = new Client({ name: 'test', version: '1' });
    const env = { ...(ground.cli.env as Record<string, string>), PATH: '/usr/bin:/bin' };
    await client.connect(new StdioClientTransport({ command, args, env, cwd: project }));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([
      ...['get_delivery_status', 'get_inbox', 'list_agents'],
      ...['pty_list', 'pty_read', 'pty_screen', 'pty_wait'],
    ]);
    await client.close();
  });
});

/** Lines that are no longer there. */
function removedLines(before: string, after: string): readonly string[] {
  const left = after.split('\n');
  return before.split('\n').filter((line) => !left.includes(line));
}
