import { expect, it } from 'vitest';
import type { Caller } from '../../registry/caller.ts';
import { McpSessions } from './sessions.ts';

const user: Caller = { participant: 'user:ann', scopes: new Set() };
const agent = (name: string): Caller => ({ participant: `agent:${name}`, scopes: new Set() });

/** Registers in a session as somebody. */
function register(sessions: McpSessions, id: string, name: string): void {
  const found = sessions.find(id, user);
  if (typeof found !== 'object') throw new Error(`${id} is unknown`);
  found.become(agent(name));
}

it('knows whoever registered last, and takes none it has forgotten for its credential', () => {
  const sessions = new McpSessions();
  const first = sessions.begin();
  const silent = sessions.begin();
  register(sessions, first, 'first');
  for (let round = 0; round < 3_000; round++) register(sessions, sessions.begin(), `early-${round}`);
  expect(sessions.find(first, user)).toMatchObject({ caller: agent('first') });
  const late = sessions.begin();
  register(sessions, late, 'late');
  for (let round = 0; round < 3_000; round++) register(sessions, sessions.begin(), `then-${round}`);
  expect(sessions.find(late, user)).toMatchObject({ caller: agent('late') });
  // Neither is the user, who opened both.
  expect(sessions.find(first, user)).toBe('unknown');
  expect(sessions.find(silent, user)).toBe('unknown');
});

it('counts nobody twice who registers again', () => {
  const sessions = new McpSessions();
  const one = sessions.begin();
  for (let round = 0; round < 10_000; round++) register(sessions, one, `name-${round}`);
  expect(sessions.find(one, user)).toMatchObject({ caller: agent('name-9999') });
  expect(sessions.find('unheard-of', user)).toBe('unknown');
  expect(sessions.find(one.replace(/\.0\./, '.9.'), user)).toBe('unknown');
});
