import { expect, it } from 'vitest';
import { StateOfEvents } from './agent-state.ts';
import type { OpenCodeEvent } from './opencode.ts';

const status = (sessionID: string, type: string): OpenCodeEvent => ({
  type: 'session.status',
  properties: { sessionID, status: { type } },
});
const on = (type: string, sessionID: string): OpenCodeEvent => ({ type, properties: { sessionID } });

it('follows a turn with a question in it', () => {
  const states = new StateOfEvents();
  const told = [
    status('a', 'busy'),
    on('permission.asked', 'a'),
    on('permission.replied', 'a'),
    status('a', 'retry'),
    status('a', 'idle'),
  ].map((event) => states.next(event)?.status);
  expect(told).toEqual(['running', 'blocked', 'running', 'running', 'idle']);
});

it('says what it waits for', () => {
  const states = new StateOfEvents();
  const asks = (properties: OpenCodeEvent['properties']): OpenCodeEvent => ({
    type: 'permission.asked',
    properties: { sessionID: 'a', permission: 'bash', patterns: ['rm *', 'ls *'], ...properties },
  });
  const reasonOf = (event: OpenCodeEvent) => states.next(event, 0)?.reason;
  expect(reasonOf(asks({}))).toEqual({ kind: 'permission', tool: 'bash', input: 'rm *, ls *' });
  expect(reasonOf(asks({ metadata: { command: 'rm x' } }))).toMatchObject({ input: 'rm x' });
  const questions = [{ question: 'Which?', options: [{ label: 'Red' }, { label: 'Blue' }] }];
  expect(reasonOf({ type: 'question.asked', properties: { sessionID: 'a', questions } })).toEqual({
    ...{ kind: 'question', text: 'Which?', options: ['Red', 'Blue'] },
  });
  const retry = (next: number): OpenCodeEvent => ({
    type: 'session.status',
    properties: { sessionID: 'a', status: { type: 'retry', message: 'too many', next } },
  });
  expect(reasonOf(retry(5_000))).toBeUndefined();
  expect(reasonOf(retry(3_600_000))).toEqual({
    ...{ kind: 'rate limit', text: 'too many', resetsAt: '1970-01-01T01:00:00.000Z' },
  });
  expect(reasonOf(status('a', 'idle'))).toBeUndefined();
});

it('is idle only when every session is, and names the one that is nobody’s child', () => {
  const states = new StateOfEvents();
  states.next(status('a', 'busy'));
  states.next({ type: 'session.created', properties: { info: { id: 'child', parentID: 'a' } } });
  states.next(status('child', 'busy'));
  expect(states.next(status('child', 'idle'))).toEqual({ status: 'running', sessionId: 'a' });
  expect(states.next(status('a', 'idle'))).toEqual({ status: 'idle', sessionId: 'a' });
});

it('keeps an error until the next turn, and takes an abort for none', () => {
  const states = new StateOfEvents();
  const error = (name: string): OpenCodeEvent => ({
    type: 'session.error',
    properties: { sessionID: 'a', error: { name, data: { message: 'out of credit' } } },
  });
  states.next(status('a', 'busy'));
  states.next(error('APIError'));
  expect(states.next(status('a', 'idle'))).toMatchObject({ status: 'error', error: 'out of credit' });
  expect(states.next(status('a', 'busy'))?.status).toBe('running');
  states.next(error('MessageAbortedError'));
  expect(states.next(status('a', 'idle'))?.status).toBe('idle');
});

it('forgets a session that was deleted while it ran, and ignores what says nothing', () => {
  const states = new StateOfEvents();
  states.next(status('a', 'busy'));
  expect(states.next({ type: 'session.deleted', properties: { info: { id: 'a' } } })?.status).toBe('idle');
  expect(states.next(on('message.updated', 'a'))).toBeUndefined();
});
