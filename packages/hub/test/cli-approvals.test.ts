import type { Approval } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CliGround } from './cli-ground.ts';
import { until } from './test-hub.ts';

const ground = new CliGround();
beforeAll(async () => {
  await ground.ok('up');
  await ground.ok('run', '--name', 'worker', '--', 'cat');
}, 60_000);
afterAll(() => ground[Symbol.asyncDispose]());

const approvals = () => ground.json<readonly Approval[]>('approvals', 'ls');

/** A pane that types something into the pane "worker"; answers the approval that waits for it. */
async function ask(name: string, text: string): Promise<Approval> {
  const program = `"$NODE" "$POLY" send worker --no-enter "$TEXT"; echo "ended with $?"; exec cat`;
  const variables = [`NODE=${process.execPath}`, `POLY=${ground.program}`, `TEXT=${text}`];
  const env = variables.flatMap((variable) => ['--env', variable]);
  await ground.ok('run', '--name', name, ...env, '--', 'sh', '-c', program);
  return until(async () => (await approvals()).find(({ pane }) => pane === name));
}

const ending = (name: string): Promise<string> =>
  until(async () => /ended with \d/.exec(await ground.ok('read', name))?.[0]);

describe('poly approvals', () => {
  it('has nothing to show when nothing waits', async () => {
    expect(await ground.run(['approvals', 'ls'])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'Nothing waits for you.\n',
    });
    expect(await approvals()).toEqual([]);
    expect(await ground.ok('server', 'status')).not.toContain('approvals');
  });

  it('shows everything, and nothing that the terminal would obey or hide', async () => {
    const text = `\x1b[2J\u202etxt.exe\u200b\x9b\u2028${'long '.repeat(500)}the end`;
    const { id } = await ask('hostile', text);
    const { stdout } = await ground.run(['approvals', 'ls'], { env: { COLUMNS: '40' } });
    expect(stdout).toContain('\\u001b[2J\\u{202e}txt.exe\\u{200b}\\u{9b}\\u{2028}');
    expect(stdout).toContain('long the end"\n');
    expect(stdout.replaceAll('\n', '')).toMatch(/^[\x20-\x7e]*$/);
    expect((await ground.run(['ls'])).stderr).toContain('1 call waits for you');
    expect(await ground.ok('server', 'status')).toMatch(/^approvals +1 call waits for you/m);
    expect(await ground.ok('__complete', 'approvals', 'deny', '')).toBe(`${id}\n`);

    expect(await ground.ok('approvals', 'deny', id.slice(0, 8))).toBe(`${id} is denied.\n`);
    expect(await ending('hostile')).toBe('ended with 4');
    expect(await ground.ok('read', 'hostile')).toMatch(/denied it/);
    expect(await ground.ok('read', 'worker')).not.toContain('txt');
  });

  it('answers one of several by the beginning of its id', async () => {
    const one = await ask('one', 'from one ');
    const two = await ask('two', 'from two ');
    const short = await ground.run(['approvals', 'allow', 'apr_']);
    expect([short.code, short.stderr]).toEqual([2, expect.stringContaining('three digits')]);
    const unclear = await ground.run(['approvals', 'deny', 'apr_']);
    expect([unclear.code, unclear.stderr]).toEqual([2, expect.stringContaining(`may be any of ${one.id}`)]);
    expect((await ground.run(['ls'])).stderr).toContain('2 calls wait for you');
    const answer = { id: two.id, decision: 'allow' };
    expect(await ground.json('approvals', 'allow', two.id)).toEqual(answer);
    expect(await ending('two')).toBe('ended with 0');
    expect((await approvals()).map(({ id }) => id)).toEqual([one.id]);
    expect(await ground.json('approvals', 'allow', two.id)).toEqual(answer);
    expect((await ground.run(['approvals', 'deny', two.id])).code).toBe(4);
    expect((await ground.run(['approvals', 'deny', 'apr_none'])).code).toBe(3);
    await ground.ok('approvals', 'deny', one.id);
    expect(await ending('one')).toBe('ended with 4');
  });

  it('is not for a pane, which still lists its own panes', async () => {
    const program = '"$NODE" "$POLY" approvals ls; "$NODE" "$POLY" ls; echo "ended with $?"; exec cat';
    const env = ['--env', `NODE=${process.execPath}`, '--env', `POLY=${ground.program}`];
    await ground.ok('run', '--name', 'inside', ...env, '--', 'sh', '-c', program);
    expect(await ending('inside')).toBe('ended with 0');
    expect(await ground.ok('read', 'inside')).toMatch(/needs the scope approval:read/);
  });
});
