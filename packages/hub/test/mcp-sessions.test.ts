import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register } from './mail-ground.ts';
import { RawConversation } from './mcp-clients.ts';
import { TestHub } from './test-hub.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await TestHub.start();
});
afterAll(() => hub[Symbol.asyncDispose]());

const clientInfo = { name: 'test', version: '1' };
const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };

/** One request of a client of the 2025 era. */
function ask(method: string, params: object, session?: string) {
  return hub.send({
    ...{ method: 'POST', path: '/mcp' },
    headers: {
      authorization: `Bearer ${hub.token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(session !== undefined && { 'mcp-session-id': session, 'mcp-protocol-version': '2025-06-18' }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
}
const begin = async (): Promise<string> => String((await ask('initialize', hello)).headers['mcp-session-id']);
const use = (session: string, name: string, given: object = {}) =>
  ask('tools/call', { name, arguments: given }, session);

describe('a session of MCP over HTTP', () => {
  it('that nobody knows is answered with 404 and nothing else, and its client begins anew', async () => {
    for (const wrong of ['unheard-of', 'x'.repeat(200), ''])
      expect(await use(wrong, 'pty_list')).toMatchObject({ status: 404, body: '' });
    const session = await begin();
    expect(await use(session, 'register_agent', { name: 'again', project: 'mcp' })).toMatchObject({
      status: 200,
    });
    await hub.kill('SIGKILL');
    await hub.start();
    expect(await use(session, 'get_inbox')).toMatchObject({ status: 404, body: '' });
    const next = await begin();
    expect((await use(next, 'reconnect', { name: 'again', project: 'mcp' })).body).toContain('reused');
  });

  it('of one credential is nobody’s with another', async () => {
    const session = await begin();
    await use(session, 'register_agent', { name: 'mine', project: 'mcp' });
    const { secret } = await register(hub, 'other', { project: 'mcp' });
    const asked = await hub.send({
      ...{ method: 'POST', path: '/mcp' },
      headers: {
        authorization: `Bearer ${secret}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-session-id': session,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_inbox' } }),
    });
    expect(asked).toMatchObject({ status: 404, body: '' });
  });

  it('that has registered goes on, however many others begin and say nothing more', async () => {
    const session = await begin();
    await use(session, 'register_agent', { name: 'steady', project: 'mcp' });
    for (let round = 0; round < 15; round++) await Promise.all(Array.from({ length: 100 }, begin));
    expect((await use(session, 'list_agents', { project: 'mcp' })).body).toContain('steady');
  }, 120_000);

  it('by a connection that says nothing is ended', async () => {
    const silent = await Promise.all(Array.from({ length: 100 }, () => RawConversation.open(hub)));
    const ends = await Promise.all(silent.map((one) => one.heard()));
    expect(ends).toEqual(silent.map(() => ({ end: [1008, 'not understood'] })));
    await Promise.all(silent.map((one) => one.closed));
  }, 120_000);
});
