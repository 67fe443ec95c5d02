import { describe, expect, it } from 'vitest';
import * as protocol from '../src/index.ts';
import {
  type Action,
  createClient,
  defineAction,
  EventFilter,
  errorKinds,
  type HubRequest,
  isParticipant,
  jsonSchemaOf,
  nothing,
  PolyError,
  participantOf,
  refusedEventName,
} from '../src/index.ts';

const actions = (Object.values(protocol) as unknown[]).filter(
  (value): value is Action =>
    typeof value === 'object' && value !== null && 'effect' in value && 'params' in value,
);

describe('actions', () => {
  it.each(actions.map((action) => [action.name, action] as const))(
    '%s has schemas that outsiders can read',
    (_, action) => {
      expect(Object.isFrozen(action)).toBe(true);
      expect(jsonSchemaOf(action.params, 'input')).toMatchObject({
        type: 'object',
        additionalProperties: false,
      });
      expect(JSON.stringify(jsonSchemaOf(action.result, 'output'))).not.toBe('{}');
      expect(action.summary).toMatch(/^[A-Z].*\.$/);
    },
  );

  it('that act on a pane name it', () => {
    for (const action of actions.filter(({ onPane }) => onPane)) {
      expect(jsonSchemaOf(action.params, 'input')).toMatchObject({
        required: expect.arrayContaining(['paneId']),
      });
    }
  });

  it('are refused without a scope, or with a name that is none', () => {
    const spec = {
      name: 'demo:hello',
      summary: 'Greets.',
      effect: 'read',
      params: nothing,
      result: nothing,
    } as const;
    expect(() => defineAction({ ...spec, scope: 'all' as never })).toThrow(/no known scope/);
    expect(() => defineAction({ ...spec, name: 'Hello', scope: 'pane:read' })).toThrow(/noun:verb/);
  });
});

describe('events', () => {
  it.each([
    ['*', 'a:b', true],
    ['a:*', 'a:b', true],
    ['a:*', 'ab:c', false],
    ['a:b, c', 'c', true],
    ['', 'a', false],
    ['a', 'a:b', false],
  ])('%j includes %s: %s', (include, name, matches) => {
    expect(new EventFilter(include).matches(name)).toBe(matches);
  });

  it.each(['pane:created', 'action:start', 'server:x', 'mail:sent', '', 'a b', 'a\nb', ':', 'x'.repeat(200)])(
    'of the name %j are refused',
    (name) => {
      expect(refusedEventName(name)).toMatch(/./);
    },
  );

  it.each(['my-event', 'build:done', 'pane', 'a.b_c:d'])('of the name %s are anybody’s', (name) => {
    expect(refusedEventName(name)).toBeUndefined();
  });
});

it('makes a participant of any name', () => {
  for (const name of ['Jo', 'pty_1a2b3c4d', 'Zoë K', '..', '🎉', 'x'.repeat(99)]) {
    expect(isParticipant(participantOf('user', name))).toBe(true);
  }
});

describe('the client', () => {
  it('sends what is asked, and throws what is answered as an error', async () => {
    const asked: HubRequest[] = [];
    const client = createClient({
      token: 't',
      transport: async (request) => {
        asked.push(request);
        const error = { code: 'not_found', message: 'there is no pane "x".' };
        return { status: 404, body: JSON.stringify({ error }) };
      },
    });
    const call = client.call('pane:close', { paneId: 'x' }, { idempotencyKey: 'k' });
    await expect(call).rejects.toMatchObject({ code: 'not_found', message: 'there is no pane "x".' });
    expect(asked).toEqual([
      {
        method: 'POST',
        path: '/action/pane%3Aclose',
        body: '{"paneId":"x"}',
        headers: { authorization: 'Bearer t', 'content-type': 'application/json', 'idempotency-key': 'k' },
      },
    ]);
  });

  it('says so when what answers is no hub', async () => {
    const client = createClient({ token: 't', transport: async () => ({ status: 200, body: '<html>' }) });
    await expect(client.get('/health')).rejects.toMatchObject({ code: 'unreachable' });
  });
});

it('turns an error into what is sent, and back', () => {
  const error = new PolyError('conflict', 'taken', { hint: 'wait', details: { by: 'x' } });
  expect(PolyError.from(error.info)).toEqual(error);
  expect(PolyError.from({ code: 'new-code' as never, message: 'm' }).code).toBe('internal');
  for (const { status, exit } of Object.values(errorKinds)) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(exit).toBeGreaterThan(0);
  }
});
