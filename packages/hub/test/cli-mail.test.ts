import { afterAll, beforeAll, expect, it } from 'vitest';
import { CliGround } from './cli-ground.ts';

const ground = new CliGround();
beforeAll(() => ground.ok('up'), 60_000);
afterAll(() => ground[Symbol.asyncDispose]());

interface Made {
  readonly agent_id: string;
  readonly secret: string;
}

const as = async (secret: string, ...args: readonly string[]) =>
  ground.run(args, { env: { POLY_TOKEN: secret } });

it('teaches what mail is and how to write, with examples', async () => {
  const help = await ground.ok('mail', '--help');
  expect(help).toMatch(/^Agents and people write to each other/);
  for (const verb of ['send', 'inbox', 'search', 'status', 'agents', 'register', 'unregister'])
    expect(help).toContain(`mail ${verb}`);
  expect(help).toContain('poly mail send reviewer');
  expect(await ground.ok('mail', 'send', '--help')).toContain('role:tester -');
});

it('writes to a name, an id, a role and everyone, and reads what came', async () => {
  const ann = await ground.json<Made>('mail', 'register', 'ann', '--project', 'cli');
  const ben = await ground.json<Made>('mail', 'register', 'ben', '--project', 'cli', '--role', 'tester');
  expect(await ground.json('mail', 'agents', '--project', 'cli')).toMatchObject([
    { name: 'ann', unread: 0, liveness: 'unknown' },
    { name: 'ben', role: 'tester' },
  ]);
  const words = ['hi there', 'by id', 'to role', 'to all'];
  const [hi = '', ...others] = words;
  await ground.ok('mail', 'send', 'ben', hi, '--project', 'cli', '--subject', 'S', '--importance', 'high');
  for (const [i, to] of [ben.agent_id, 'role:tester', 'everyone'].entries()) {
    const { code, stderr } = await as(ann.secret, 'mail', 'send', to, others[i] ?? '');
    expect([code, stderr]).toEqual([0, '']);
  }
  const piped = await ground.run(['mail', 'send', 'ben', '-', '--project', 'cli'], {
    input: 'two\nlines\x1b[31m',
  });
  expect(piped.code).toBe(0);
  const { stdout } = await as(ben.secret, 'mail', 'inbox');
  for (const word of words) expect(stdout).toContain(word);
  expect(stdout).toMatch(/user:\S+ to ben in cli {2}\d+s ago, high, wants an answer\n {2}S\n {2}hi there\n/);
  expect(stdout).toContain('  two\n  lines\\u{1b}[31m\n');
  expect((await as(ben.secret, 'mail', 'inbox')).stderr).toBe('Nothing new.\n');
  expect(
    JSON.parse((await as(ben.secret, 'mail', 'inbox', '--since', '0', '--json')).stdout).messages,
  ).toHaveLength(5);
  expect((await as(ben.secret, 'mail', 'search', 'role')).stdout).toContain('to role');
});

it('says what is wrong with its exit code, and what to do', async () => {
  const { code, stderr } = await ground.run(['mail', 'send', 'nobody', 'x', '--project', 'cli']);
  expect([code, stderr]).toEqual([3, expect.stringMatching(/no agent "nobody".*poly mail agents/)]);
  expect((await ground.run(['mail', 'send', 'everyone', 'x', '--no-reply'])).code).toBe(2);
  expect((await ground.run(['mail', 'status', 'msg_1'])).code).toBe(2);
  expect((await ground.run(['mail', 'register', 'ann', '--project', 'cli'])).code).toBe(4);
  expect((await ground.run(['mail', 'send', 'ann', 'x', '--project', 'cli', '--wait', '1s'])).code).toBe(5);
  expect((await ground.run(['mail', 'unregister'])).code).toBe(4);
});

it('renames oneself by one name, and as the user others by two', async () => {
  const { secret } = await ground.json<Made>('mail', 'register', 'bot', '--project', 'cli');
  expect(await as(secret, 'mail', 'rename', 'robot')).toMatchObject({
    code: 0,
    stdout: 'bot is agent:robot in cli now.\n',
  });
  const renamed = await ground.json('mail', 'rename', 'robot', 'droid', '--project', 'cli');
  expect(renamed).toMatchObject({ before: 'robot', name: 'droid' });
  expect((await ground.run(['mail', 'rename', 'robot', 'x', '--project', 'cli'])).code).toBe(3);
  expect((await ground.run(['mail', 'rename', 'droid', 'a b', '--project', 'cli'])).code).toBe(2);
  expect((await ground.run(['mail', 'rename', 'droid', 'ann', '--project', 'cli'])).code).toBe(4);
  expect((await as(secret, 'mail', 'unregister')).stdout).toBe('droid has left cli.\n');
});

it('shows the secret of a registration outside of panes only', async () => {
  const register = (name: string) => [ground.program, 'mail', 'register', name, '--project', 'panes'];
  expect(await ground.ok(...register('outside').slice(1))).toMatch(/shown once: \S{20,}\n/);
  const { id } = await ground.json<{ id: string }>('run', '--', process.execPath, ...register('inside'));
  await ground.ok('wait', id, '--exit');
  const shown = await ground.ok('read', id);
  expect(shown).toMatch(/agent:inside is agt_\w+ in panes\./);
  expect(shown).not.toMatch(/shown once|secret|\S{40,}/);
  const words = [process.execPath, ...register('plain'), '--json'];
  const { id: plain } = await ground.json<{ id: string }>('run', '--', ...words);
  await ground.ok('wait', plain, '--exit');
  const [line = ''] = (await ground.ok('read', plain)).split('\n');
  expect(JSON.parse(line)).toMatchObject({ name: 'plain', status: 'new' });
  expect(line).not.toContain('secret');
});

it('shows how it stands with all mail, and doctor too', async () => {
  expect(await ground.json('mail', 'status')).toMatchObject({ retention: null, agents: 5 });
  expect(await ground.ok('mail', 'status')).toMatch(/^5 agents, \d+ messages so far, 0 new for you\./);
  expect((await ground.run(['doctor'])).stdout).toContain('old mail is forgotten in time');
});
