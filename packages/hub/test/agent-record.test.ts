import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerStatus } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CliGround } from './cli-ground.ts';
import { FakeAgent } from './fake-agent.ts';
import { TestHub, until } from './test-hub.ts';

const ground = new CliGround();
const recorded = (name: string): string => join(import.meta.dirname, 'screens', 'claude', `${name}.txt`);

/** Draws whatever screen a file next to it holds, whenever it is told to. */
const program = join(ground.home, 'claude');
const drawing = join(ground.home, 'drawing');
const paneId = 'drawn';

async function draw(text: string, title: string): Promise<void> {
  writeFileSync(drawing, text.trimEnd());
  await ground.ok('send', paneId, title);
  const lines = text.trimEnd().split('\n');
  await until(async () => {
    const screen = await ground.json<{ lines: string[]; title: string }>('screen', paneId);
    return (
      screen.title === title &&
      lines.every((line, index) => screen.lines[index]?.trimEnd() === line.trimEnd())
    );
  });
}

interface Saved {
  readonly file: string;
  readonly agrees?: boolean;
  readonly read: { readonly status: string; readonly evidence: string };
}

/** What the hub reads from the screen now. */
const readNow = async () => (await ground.json<Saved>('agent', 'record', paneId, '--dir', 'now')).read;

const rule = (name: string): string => join(ground.home, '.poly', 'screens', 'claude', name);
function writeRule(name: string, content: unknown): void {
  mkdirSync(join(rule(name), '..'), { recursive: true, mode: 0o700 });
  writeFileSync(rule(name), typeof content === 'string' ? content : JSON.stringify(content));
}
const notesOf = (file: string) =>
  JSON.parse(readFileSync(join(ground.home, file.replace(/txt$/, 'json')), 'utf8'));

beforeAll(async () => {
  writeFileSync(
    program,
    `#!/bin/sh\nstty -echo\nprintf '\\033[?1049h'\nwhile read -r title; do\n  printf '\\033[2J\\033[H\\033]0;%s\\007' "$title"\n  cat '${drawing}'\ndone\n`,
  );
  chmodSync(program, 0o700);
  await ground.ok('up');
  await ground.ok('agent', 'create', '--name', paneId, '--', program);
}, 60_000);
afterAll(() => ground[Symbol.asyncDispose]());

describe('poly agent record', () => {
  it('saves what an agent shows, with what it told and what the rules read, and never over another', async () => {
    await draw(readFileSync(recorded('permission-bash-80x24'), 'utf8'), '✳ Claude Code');
    await ground.ok('action', 'agent:set-state', '--paneId', paneId, '--status', 'blocked');
    await ground.ok(
      'action',
      'pane:set-meta',
      '--paneId',
      paneId,
      '--key',
      'agent.version',
      '--value',
      '2.1.325',
    );
    expect(await ground.ok('agent', 'record', paneId)).toBe(
      'Saved screens/claude/blocked-120x40.txt, and what is known of it beside it.\n' +
        'The rules read blocked, permission ("screen: Esc to cancel · Tab to amend"), as it was.\n',
    );
    const text = readFileSync(join(ground.home, 'screens/claude/blocked-120x40.txt'), 'utf8');
    expect(text.trimEnd()).toBe(readFileSync(recorded('permission-bash-80x24'), 'utf8').trimEnd());
    expect(notesOf('screens/claude/blocked-120x40.txt')).toEqual({
      vendor: 'claude',
      version: '2.1.325',
      state: 'blocked',
      told: { status: 'blocked', authority: 'protocol' },
      screen: {
        ...{ cols: 120, rows: 40, title: '✳ Claude Code', alternate: true, bracketedPaste: false },
        cursor: { x: expect.any(Number), y: expect.any(Number), visible: true },
      },
      read: {
        status: 'blocked',
        blockedOn: 'permission',
        evidence: 'screen: Esc to cancel · Tab to amend',
        rules: 'claude/2.1.325.json',
      },
    });
    const again = await ground.json<Saved>('agent', 'record', 'draw');
    expect(again).toMatchObject({ file: 'screens/claude/blocked-120x40-2.txt', agrees: true });
    const named = ['agent', 'record', paneId, '--state', 'blocked-permission', '--dir', 'elsewhere'];
    expect(await ground.json<Saved>(...named)).toMatchObject({
      file: 'elsewhere/claude/blocked-permission-120x40.txt',
      blockedOn: 'permission',
      agrees: true,
    });
    expect(await ground.ok('agent', 'check')).toBe('2 of 2 recorded screens are read as what they are.\n');
  });

  it('says what to do where the rules read something else, and a rule is in force once it is written', async () => {
    await draw('Fable 9\n\n  ~ how may I be of use? ~', 'Fable');
    const told = await ground.ok('agent', 'record', paneId, '--state', 'idle', '--dir', 'new');
    expect(told).toBe(
      'Saved new/claude/idle-120x40.txt, and what is known of it beside it.\n' +
        'The rules read unknown ("nothing on the screen that tells"), but it was idle.\n' +
        `Write a rule for it into ${rule('2.1.325.json')}, for example\n` +
        '  {"from":"2.1.325","signs":[{"status":"idle","in":"screen","pattern":"words that only this screen has"}]}\n' +
        'Then: poly agent check new\n',
    );
    const before = await ground.run(['agent', 'check', 'new']);
    expect(before).toMatchObject({
      code: 1,
      stdout:
        '✕ new/claude/idle-120x40.txt: state is read as "unknown", not "idle" (nothing on the screen that tells)\n' +
        '0 of 1 recorded screens are read as what they are.\n',
    });
    writeRule('2.1.325.json', {
      from: '2.1.325',
      signs: [{ status: 'idle', in: 'screen', pattern: '~ how may I be of use\\? ~$' }],
    });
    expect(await ground.ok('agent', 'check', 'new')).toBe(
      '1 of 1 recorded screens are read as what they are.\n',
    );
    expect(await readNow()).toMatchObject({ status: 'idle', evidence: 'screen: ~ how may I be of use? ~' });
    rmSync(rule('2.1.325.json'));
    expect(await readNow()).toMatchObject({ status: 'unknown' });
  });

  it('takes what the hooks of an agent told for what it was doing', async () => {
    await using hub = await TestHub.start();
    const agent = await FakeAgent.start(hub);
    await agent.hook('PermissionRequest', {
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
      tool_use_id: 't',
    });
    await agent.show('permission-bash-80x24');
    await until(async () => {
      const { told, read } = await hub.client.call('agent:record', { paneId: agent.paneId });
      return told && read.status === 'blocked';
    });
    const record = ['--json', 'agent', 'record', agent.paneId, '--dir', 'hooked'];
    const { stdout } = await ground.run(record, { env: { POLY_HOME: hub.dir } });
    expect(JSON.parse(stdout)).toMatchObject({
      file: 'hooked/claude/blocked-permission-120x40.txt',
      agrees: true,
      told: { status: 'blocked', kind: 'permission', authority: 'hooks' },
    });
  });

  it('says that nobody knows what an agent is doing, where nobody does', async () => {
    await ground.ok('action', 'agent:set-state', '--paneId', paneId, '--status', 'unknown');
    const said = await ground.ok('agent', 'record', paneId, '--dir', 'unsaid');
    expect(said).toContain('Saved unsaid/claude/unknown-120x40.txt');
    expect(said).toContain('Write "state" into unsaid/claude/unknown-120x40.json');
    const { code, stdout } = await ground.run(['agent', 'check', 'unsaid']);
    expect([code, stdout]).toEqual([1, expect.stringContaining('nobody has said what it shows')]);
  });

  it.each([
    [['record', 'drown'], 3, 'there is no pane "drown"'],
    [['record', 'shell'], 4, 'shell runs cat, no agent whose screens are read. Those are claude, codex'],
    [['record', paneId, '--state', 'bored'], 2, '--state must be unknown, starting, idle'],
    [['record', paneId, '--dir', 'no/such'], 3, 'there is no folder no. Make it first: mkdir -p no'],
    [['record', paneId, '--dir', 'drawing'], 1, 'drawing'],
    [['check', 'nowhere'], 3, 'nowhere'],
    [
      ['check', '.poly'],
      3,
      'there are no recordings in .poly. Make one with: poly agent record <pane> --dir .poly',
    ],
  ])('refuses %j in words', async (args, code, says) => {
    if (args[1] === 'shell') await ground.ok('run', '--name', 'shell', '--', 'cat');
    const refused = await ground.run(['agent', ...args]);
    expect(refused.stderr).toContain(says);
    expect(refused.code).toBe(code);
  });
});

describe('a file of rules that cannot be used', () => {
  const problems = async () => (await ground.json<ServerStatus>('server', 'status')).problems;
  const finding = async () => {
    const { stdout } = await ground.run(['doctor', '--json']);
    return (JSON.parse(stdout) as { name: string; state: string; says: string }[]).find(
      ({ name }) => name === 'screens',
    );
  };

  it('is told of by status and doctor, and holds up nobody', async () => {
    await draw(readFileSync(recorded('working-80x24'), 'utf8'), '◐ Claude Code');
    writeRule('3.json', '{"from": "3"}');
    expect(await problems()).toEqual([
      `${rule('3.json')}: signs is missing: it must be a list. No screen is read by it.`,
    ]);
    expect(await finding()).toMatchObject({
      state: 'warn',
      says: expect.stringContaining('signs is missing'),
    });
    expect(await readNow()).toMatchObject({ status: 'running' });
    // Such a pattern takes longer than anybody lives.
    const pattern = '^(?:.*\\n?)*never$';
    writeRule('3.json', {
      from: '2.1.325',
      signs: [{ status: 'idle', in: 'screen', pattern: `(?:(?:[^]?)+)+${pattern}` }],
    });
    expect(await readNow()).toMatchObject({ status: 'running' });
    expect(await problems()).toEqual([expect.stringContaining('3.json was set aside when it read a screen')]);
    expect(await finding()).toMatchObject({ state: 'warn', says: expect.stringContaining('set aside') });
    rmSync(rule('3.json'));
    expect(await problems()).toEqual([]);
    expect(await finding()).toMatchObject({ state: 'ok' });
  });

  it('is told of by doctor where no hub runs', async () => {
    writeRule('4.json', '[');
    await ground.ok('server', 'stop');
    expect(await finding()).toMatchObject({
      state: 'warn',
      says: expect.stringContaining('4.json is no JSON'),
    });
    rmSync(rule('4.json'));
    expect(await finding()).toMatchObject({ state: 'ok' });
    await ground.ok('up');
  });
});
