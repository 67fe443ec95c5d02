import { afterAll, beforeAll, expect, it } from 'vitest';
import { CliGround } from './cli-ground.ts';

const ground = new CliGround();
beforeAll(() => ground.ok('up'), 120_000);
afterAll(() => ground[Symbol.asyncDispose]());

it('adds, shows, changes, invites, dismisses and removes named agents', async () => {
  const added = await ground.run([
    ...['agent', 'add', 'dean', '--display-name', 'Dean', '--icon', '🦉', '--skill', 'sql,postgres'],
    ...['--tag', 'data', '--budget', '10', '--watch', 'failure', '--watch-word', 'sql'],
  ]);
  expect([added.code, added.stdout]).toEqual([0, 'agent:dean\n']);
  await ground.ok('project', 'create', 'shop', '--tag', 'data');
  await ground.ok('agent', 'invite', 'dean', 'depot');
  const shown = await ground.ok('agent', 'show', '@dean');
  expect(shown).toMatch(
    /agent +agent:dean\nname +🦉 Dean\nskills +sql, postgres\njoins +data\nhosting +self\nbudget +10 a minute/,
  );
  expect(shown).toMatch(/watches +failure, sql\n/);
  expect(shown).toMatch(/depot\/dean-depot +away/);
  expect(await ground.ok('agent', 'named', '--skill', 'sql')).toMatch(
    /^dean +🦉 Dean +self +.*depot \(away\)/,
  );
  expect(await ground.ok('agent', 'edit', 'dean', '--clear', 'watch,icon', '--isolated')).toMatch(
    /name +Dean\n[\s\S]*isolated +in one project/,
  );
  expect(await ground.ok('agent', 'dismiss', 'dean', 'depot')).toBe('agent:dean has left depot.\n');
  const secret = await ground.run(['agent', 'secret', 'dean', 'DB_TOKEN'], { input: 'open sesame\n' });
  expect([secret.code, secret.stdout]).toEqual([0, 'dean has DB_TOKEN.\n']);
  expect(
    `${secret.stdout}${secret.stderr}${await ground.ok('agent', 'show', 'dean', '--json')}`,
  ).not.toContain('sesame');
  const short = await ground.run(['agent', 'secret', 'dean', 'DB_TOKEN'], { input: 'short' });
  expect([short.code, short.stderr]).toEqual([2, expect.stringContaining('at least 8 characters')]);
  expect(await ground.ok('agent', 'secret', 'dean', 'DB_TOKEN', '--remove')).toBe('dean has no secrets.\n');
  expect((await ground.run(['agent', 'add', 'dean'])).code).toBe(4);
  expect((await ground.run(['agent', 'add', 'x', '--icon', 'elephant'])).code).toBe(2);
  expect((await ground.run(['agent', 'add', 'x', '--watch-word', 'sql'])).code).toBe(2);
  expect((await ground.run(['agent', 'remove', 'dean'])).code).toBe(4);
  expect(await ground.ok('agent', 'remove', 'dean', '--yes')).toBe('agent:dean has its name no longer.\n');
  expect((await ground.run(['agent', 'show', 'dean'])).code).toBe(3);
}, 240_000);

it('keeps, lists, prints and deletes knowledge', async () => {
  const kept = await ground.run(['knowledge', 'write', 'sql/style.md'], { input: 'Lower case.\n' });
  expect([kept.code, kept.stdout]).toEqual([0, 'sql/style.md: 12 bytes for everybody.\n']);
  await ground.run(['knowledge', 'write', 'plan.md', '--project', 'shop'], { input: 'Sell.\n' });
  expect(await ground.ok('knowledge', 'list', '--project', 'shop')).toMatch(
    /sql\/style\.md +12 +everybody\nplan\.md +6 +shop\n/,
  );
  expect(await ground.ok('knowledge', 'read', 'plan.md', '--project', 'shop')).toBe('Sell.\n');
  expect((await ground.run(['knowledge', 'read', 'plan.md'])).code).toBe(3);
  expect((await ground.run(['knowledge', 'read', '../token'])).code).toBe(2);
  expect(await ground.ok('knowledge', 'remove', 'sql/style.md')).toBe('sql/style.md is deleted.\n');
}, 240_000);
