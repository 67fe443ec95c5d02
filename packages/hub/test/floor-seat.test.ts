import { once } from 'node:events';
import { userInfo } from 'node:os';
import { type Client, PolyError, participantOf } from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { register } from './mail-ground.ts';
import { byHttp, use } from './mcp-clients.ts';
import { invited } from './people-ground.ts';
import { TestHub, until } from './test-hub.ts';

const me = participantOf('user', userInfo().username);
let hub: TestHub;
let count = 0;
beforeAll(async () => {
  hub = await TestHub.start();
}, 60_000);
afterAll(() => hub[Symbol.asyncDispose]());

const refused = (code: string) =>
  expect.objectContaining({
    code,
    hint: expect.stringContaining('poly advise'),
    details: expect.objectContaining({ reason: 'seat_taken' }),
  });

/** A session that a pane of its own feeds; the user has its seat. */
async function joined(project = `p${++count}`) {
  const pane = `pane-${++count}`;
  const own = hub.as(await hub.paneToken(pane));
  const { session } = await own.call('floor:join', { project });
  return { pane, own, project, session: session.session_id, slug: session.slug };
}

const settled = async <T>(work: Promise<T>): Promise<T | PolyError> =>
  work.catch((error: unknown) => {
    if (error instanceof PolyError) return error;
    throw error;
  });

const reads = async (paneId: string): Promise<string> =>
  ((await hub.client.call('pane:read', { paneId })).lines ?? []).map(({ text }) => text).join('\n');

describe('the seat of a session', () => {
  it('is the user’s at first, is given up and claimed, and each change stands in the timeline', async () => {
    const { session, slug } = await joined();
    const ada = await invited(hub, 'ada');
    const claim = () => ada.call('floor:claim', { session });
    await expect(claim()).rejects.toEqual(refused('conflict'));
    const denied = (await settled(claim())) as PolyError;
    expect(denied.message).toMatch(new RegExp(`^${me} drives p.*/${slug} since 2.*, until 2`));

    expect(await hub.client.call('floor:handoff', { session })).toMatchObject({ status: 'open' });
    const taken = await claim();
    expect(taken).toMatchObject({ status: 'claimed', fence: 2, session: { driver: 'user:ada', fence: 2 } });
    expect(await claim()).toMatchObject({ status: 'again', fence: 2 });
    const handed = await ada.call('floor:handoff', { session, to: `@${me}`, fence: 2 });
    expect(handed).toMatchObject({ status: 'handed-over', session: { driver: me, fence: 3 } });

    const { entries } = await hub.client.call('floor:timeline', { session, kinds: ['handoff'] });
    expect(entries.map(({ sender, text, data }) => [sender, text, data.event])).toEqual([
      [me, `${me} left the seat.`, 'floor:released'],
      ['user:ada', 'user:ada took the seat.', 'floor:claimed'],
      ['user:ada', `user:ada handed the seat over to ${me}.`, 'floor:handed-over'],
    ]);
  });

  it('is won by exactly one of twenty who claim it at once, and the others hear who has it', async () => {
    const { session } = await joined();
    await hub.client.call('floor:handoff', { session });
    const agents = await Promise.all(Array.from({ length: 20 }, (_, at) => register(hub, `racer-${at}`)));
    const answers = await Promise.all(agents.map((one) => settled(one.call('floor:claim', { session }))));
    const won = answers.flatMap((one) => (one instanceof PolyError ? [] : [one]));
    const lost = answers.filter((one) => one instanceof PolyError);
    expect(won).toHaveLength(1);
    expect(won[0]).toMatchObject({ status: 'claimed', fence: 2 });
    for (const one of lost) {
      expect(one).toEqual(refused('conflict'));
      expect((one as PolyError).details).toMatchObject({
        ...{ driver: won[0]?.session.driver, since: expect.any(String), until: won[0]?.lease_until },
      });
    }
    expect((await hub.client.call('floor:session', { session })).driver).toBe(won[0]?.session.driver);
  });

  it('is won by one, whatever door two come by at once', async () => {
    const { session, project, slug } = await joined();
    const [ada, bob] = [await invited(hub, 'by-route'), await invited(hub, 'by-tool')];
    const tools = await byHttp(hub, { token: bob.token, query: '?toolsets=floor' });
    const byRoute = async (): Promise<boolean> => {
      const { status } = await hub.send({
        ...{ method: 'POST', path: `/projects/${project}/sessions/${slug}/driver`, body: '{}' },
        headers: { 'content-type': 'application/json', authorization: `Bearer ${ada.token}` },
      } as Parameters<TestHub['send']>[0]);
      return status === 200;
    };
    const byTool = async (): Promise<boolean> =>
      !(await use(tools, 'floor_claim', { session })).startsWith('ERROR');
    const byAction = async (): Promise<boolean> =>
      !((await settled(hub.client.call('floor:claim', { session }))) instanceof PolyError);
    for (let round = 0; round < 20; round++) {
      const holder = (await hub.client.call('floor:session', { session })).driver;
      const by = { 'user:by-route': ada, 'user:by-tool': bob }[holder ?? ''] ?? hub.client;
      await by.call('floor:handoff', { session });
      const won = await Promise.all([byRoute(), byTool(), byAction()]);
      expect(won.filter(Boolean)).toHaveLength(1);
      const { driver } = await hub.client.call('floor:session', { session });
      expect(driver).toBe(['user:by-route', 'user:by-tool', me][won.indexOf(true)]);
    }
    await tools.close();
  });

  it('is answered the same when a claim is repeated with its key', async () => {
    const { session } = await joined();
    const ada = await invited(hub, 'repeats');
    await hub.client.call('floor:handoff', { session });
    const key = { idempotencyKey: 'once' };
    const first = await ada.call('floor:claim', { session }, key);
    expect(await ada.call('floor:claim', { session }, key)).toEqual(first);
  });

  it('refuses what makes no sense, and says what does', async () => {
    const { session, slug, own } = await joined();
    const call = (params: object) => settled(hub.client.call('floor:handoff', params as { session: string }));
    expect(await call({ session, to: '@nobody' })).toMatchObject({
      code: 'not_found',
      hint: expect.stringContaining(me),
    });
    expect(await call({ session, to: me })).toMatchObject({ code: 'conflict' });
    expect(await call({ session, fence: 7 })).toMatchObject({ code: 'lease_lost' });
    await expect(own.call('floor:handoff', {})).rejects.toEqual(refused('conflict'));
    expect(await call({})).toMatchObject({ code: 'invalid_arguments', message: /in no pane/ });
    expect(await call({ session: 's-none' })).toMatchObject({ code: 'not_found' });
    await hub.client.call('floor:handoff', { session });
    expect(await call({ session })).toMatchObject({ code: 'conflict', hint: `Take it: poly claim ${slug}` });
    expect(await call({ session, sender: 'user:ceo' })).toMatchObject({ code: 'invalid_arguments' });
  });

  it('names those who could be meant where more than one is called so', async () => {
    const { session } = await joined();
    await register(hub, 'twin', { project: 'one' });
    await register(hub, 'twin', { project: 'two' });
    const answer = await settled(hub.client.call('floor:handoff', { session, to: '@twin' }));
    expect(answer).toMatchObject({
      code: 'conflict',
      details: { candidates: ['agent:twin in "one"', 'agent:twin in "two"'] },
    });
  });
});

describe('taking the seat from another', () => {
  const waiting = (by: Client) =>
    until(async () => (await by.call('approval:list', {})).approvals.find(({ kind }) => kind === 'seat'));

  it('asks the driver, and happens when the driver agrees', async () => {
    const { session } = await joined();
    const ada = await invited(hub, 'asks');
    const asked = ada.call('floor:claim', { session, takeover: true });
    const approval = await waiting(hub.client);
    expect(approval).toMatchObject({ by: 'user:asks', decider: me, action: 'floor:claim' });
    await expect(ada.call('approval:resolve', { id: approval.id, decision: 'allow' })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await hub.client.call('approval:resolve', { id: approval.id, decision: 'allow' });
    expect(await asked).toMatchObject({ status: 'claimed', before: me, session: { driver: 'user:asks' } });
  });

  it('asks an invited person who drives, whom the user cannot answer for when the user asks', async () => {
    const { session } = await joined();
    const [ada, bob] = [await invited(hub, 'drives'), await invited(hub, 'looks-on')];
    await hub.client.call('floor:handoff', { session, to: 'user:drives' });
    const asked = settled(hub.client.call('floor:claim', { session, takeover: true }));
    const { id } = await waiting(ada);
    expect((await bob.call('approval:list', {})).approvals).toEqual([]);
    for (const other of [bob, hub.client])
      await expect(other.call('approval:resolve', { id, decision: 'allow' })).rejects.toMatchObject({
        code: 'forbidden',
      });
    await ada.call('approval:resolve', { id, decision: 'deny' });
    expect(await asked).toMatchObject({ code: 'forbidden', message: /user:drives denied it/ });
    expect((await hub.client.call('floor:session', { session })).driver).toBe('user:drives');
  });

  it('gets it at once when the driver gives it up while being asked', async () => {
    const { session } = await joined();
    const ada = await invited(hub, 'patient');
    const asked = ada.call('floor:claim', { session, takeover: true });
    await waiting(hub.client);
    await hub.client.call('floor:handoff', { session });
    expect(await asked).toMatchObject({ status: 'claimed', session: { driver: 'user:patient' } });
    expect((await hub.client.call('approval:list', {})).approvals).toEqual([]);
  });

  it('needs nobody’s leave from an agent for a person, and the user’s for another agent', async () => {
    const { session, own } = await joined();
    await hub.client.call('floor:handoff', { session });
    const { session: taken } = await own.call('floor:claim', {});
    const rival = await register(hub, 'rival');
    const asked = rival.call('floor:claim', { session, takeover: true });
    expect(await waiting(hub.client)).toMatchObject({ by: 'agent:rival' });
    const ada = await invited(hub, 'steps-in');
    const claimed = await ada.call('floor:claim', { session, takeover: true });
    expect(claimed).toMatchObject({ before: taken.driver, session: { driver: 'user:steps-in' } });
    // The one who waited is asked for of the new driver now.
    const { id } = await waiting(ada);
    await ada.call('approval:resolve', { id, decision: 'allow' });
    expect(await asked).toMatchObject({ before: 'user:steps-in', session: { driver: 'agent:rival' } });
  });

  it('counts as refused when nobody answers in time', async () => {
    await using quick = await TestHub.start({ config: '[permission]\ntimeout = "1ms"\n' });
    const { session_id } = await quick.client.call('floor:open', { project: 'p' });
    const ada = await invited(quick, 'ada');
    await expect(ada.call('floor:claim', { session: session_id, takeover: true })).rejects.toMatchObject({
      code: 'forbidden',
      message: /nobody answered within/,
    });
    expect((await quick.client.call('floor:session', { session: session_id })).driver).toBe(me);
  });
});

describe('every door into the pane of a session', () => {
  it('is open to its driver alone, and to whoever was let in before when nobody drives', async () => {
    const { session, pane, own } = await joined();
    const ada = await invited(hub, 'types');
    const doors: Readonly<
      Record<string, (by: Client & { token?: string }, word: string) => Promise<unknown>>
    > = {
      write: (by, word) => by.call('pane:write', { paneId: pane, data: word, enter: true }),
      keys: (by, word) => by.call('pane:keys', { paneId: pane, keys: [...word, 'Enter'] }),
      message: async (by, word) => by.call('agent:message', { paneId: pane, text: word }),
    };
    const tries = async (by: Client, word: string): Promise<readonly (string | undefined)[]> =>
      Promise.all(
        Object.values(doors).map(async (door) => {
          const answer = await settled(door(by, word));
          return answer instanceof PolyError ? answer.code : undefined;
        }),
      );
    const open = [undefined, undefined, undefined];
    const shut = ['forbidden', 'forbidden', 'forbidden'];
    // The user drives: not even the program of the pane itself types there.
    expect(await tries(hub.client, 'user1')).toEqual(open);
    expect(await tries(own, 'own1')).toEqual(shut);
    expect(await tries(ada, 'ada1')).toEqual(shut);
    await hub.client.call('floor:handoff', { session, to: 'user:types' });
    expect(await tries(hub.client, 'user2')).toEqual(shut);
    expect(await tries(own, 'own2')).toEqual(shut);
    expect(await tries(ada, 'ada2')).toEqual(open);
    await expect(doors.write?.(hub.client, 'user3')).rejects.toEqual(refused('forbidden'));
    // Nobody: the user and the pane as always, and an invited person not.
    await ada.call('floor:handoff', { session });
    expect(await tries(hub.client, 'user4')).toEqual(open);
    expect(await tries(own, 'own4')).toEqual(open);
    expect(await tries(ada, 'ada4')).toEqual(shut);
    await until(async () => /own4/.test(await reads(pane)));
    expect(await reads(pane)).not.toMatch(/own1|ada1|user2|own2|user3|ada4/);
  });

  it('tells a connection that types without the seat, and goes on with its driver’s', async () => {
    const { session, pane } = await joined();
    const ada = await invited(hub, 'socket');
    const connect = async (token: string): Promise<WebSocket> => {
      const socket = new WebSocket(`${hub.discovery.url.replace('http', 'ws')}/ws`, {
        headers: { authorization: `Bearer ${token}` },
      });
      await once(socket, 'open');
      return socket;
    };
    const [mine, theirs] = [await connect(hub.token), await connect(ada.token)];
    const errors: string[] = [];
    theirs.on('message', (data) => {
      const { type, code } = JSON.parse(String(data));
      if (type === 'error') errors.push(code);
    });
    const type = (socket: WebSocket, data: string): void =>
      socket.send(JSON.stringify({ type: 'input', sessionId: pane, data }));
    type(theirs, 'not-theirs\n');
    await until(() => errors.length > 0);
    type(mine, 'from-the-driver\n');
    await until(async () => /from-the-driver/.test(await reads(pane)));
    await hub.client.call('floor:handoff', { session, to: 'user:socket' });
    type(theirs, 'theirs-now\n');
    await until(async () => /theirs-now/.test(await reads(pane)));
    expect(errors).toEqual(['forbidden']);
    expect(await reads(pane)).not.toContain('not-theirs');
    for (const socket of [mine, theirs]) socket.terminate();
  });

  it('is shut by REST, too', async () => {
    const { session, pane } = await joined();
    await invited(hub, 'rests');
    await hub.client.call('floor:handoff', { session, to: 'user:rests' });
    const { status, body } = await hub.send({
      ...{ method: 'POST', path: `/api/sessions/${pane}/input`, body: JSON.stringify({ data: 'x' }) },
      headers: { 'content-type': 'application/json', authorization: `Bearer ${hub.token}` },
    } as Parameters<TestHub['send']>[0]);
    expect([status, JSON.parse(body).error.details.reason]).toEqual([403, 'seat_taken']);
  });

  it('is asked right before each write: what waited for an answer is not typed over who drives by then', async () => {
    const { session, pane } = await joined();
    const stranger = hub.as(await hub.paneToken(`stranger-${++count}`));
    const ada = await invited(hub, 'meanwhile');
    const write = (data: string) => settled(stranger.call('pane:write', { paneId: pane, data, enter: true }));
    // The user drives: nobody is asked about what would be refused in any case.
    expect(await write('too-early')).toEqual(refused('forbidden'));
    await hub.client.call('floor:handoff', { session });
    const asked = write('too-late');
    const { id } = await until(async () =>
      (await hub.client.call('approval:list', {})).approvals.find(({ paneId }) => paneId === pane),
    );
    await ada.call('floor:claim', { session });
    await hub.client.call('approval:resolve', { id, decision: 'allow' });
    expect(await asked).toEqual(refused('forbidden'));
    await ada.call('pane:write', { paneId: pane, data: 'in-time', enter: true });
    await until(async () => /in-time/.test(await reads(pane)));
    expect(await reads(pane)).not.toMatch(/too-/);
  });

  it('lets a pane that feeds no session be typed into as ever', async () => {
    const own = hub.as(await hub.paneToken('alone'));
    expect(await own.call('pane:write', { paneId: 'alone', data: 'x' })).toEqual({ bytes: 1 });
  });
});

describe('a driver who is not there', () => {
  it('loses the seat after its time, and keeps it by typing', async () => {
    await using short = await TestHub.start({ config: '[floor]\nseat_lease = "2s"\n' });
    const token = await short.paneToken('web');
    const { session } = await short.as(token).call('floor:join', { project: 'p' });
    const { session_id } = session;
    const until1 = Date.parse(session.lease_until ?? '');
    await until(async () => {
      await short.client.call('pane:write', { paneId: 'web', data: '.' });
      const { lease_until } = await short.client.call('floor:session', { session: session_id });
      return Date.parse(lease_until ?? '') > until1;
    });
    const expired = await short.event('floor:expired');
    expect(expired.payload).toMatchObject({ sessionId: session_id, driver: me, reason: 'lease' });
    expect((await short.client.call('floor:session', { session: session_id })).driver).toBeUndefined();
    const ada = await invited(short, 'ada');
    expect(await ada.call('floor:claim', { session: session_id })).toMatchObject({ status: 'claimed' });
  });

  it('loses it when the person is removed', async () => {
    const { session } = await joined();
    await invited(hub, 'guest');
    await hub.client.call('floor:handoff', { session, to: '@guest' });
    await hub.client.call('person:remove', { name: 'guest' });
    const expired = await hub.event('floor:expired', ({ payload }) => payload.sessionId === session);
    expect(expired.payload).toMatchObject({ reason: 'gone', driver: 'user:guest' });
  });

  it('loses it with its pane', async () => {
    const { session, own, pane } = await joined();
    await hub.client.call('floor:handoff', { session });
    await own.call('floor:claim', {});
    await hub.client.call('pane:close', { paneId: pane });
    const expired = await hub.event('floor:expired', ({ payload }) => payload.sessionId === session);
    expect(expired.payload).toMatchObject({ reason: 'gone' });
  });
});

it('is not given by an answer to somebody who asked a hub that was killed meanwhile', async () => {
  await using killed = await TestHub.start();
  const { session_id: session } = await killed.client.call('floor:open', { project: 'p' });
  const ada = await invited(killed, 'ada');
  const asked = ada.call('floor:claim', { session, takeover: true }).catch((error: unknown) => error);
  const { id } = await until(async () => (await killed.client.call('approval:list', {})).approvals[0]);
  await killed.kill('SIGKILL');
  expect(await asked).toBeInstanceOf(Error);
  await killed.start();
  expect((await killed.client.call('approval:list', {})).approvals).toEqual([]);
  await expect(killed.client.call('approval:resolve', { id, decision: 'allow' })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('withdrawn'),
  });
  expect(await killed.client.call('floor:session', { session })).toMatchObject({ driver: me, fence: 1 });
  await killed.client.call('floor:handoff', { session, to: 'user:ada' });
  expect(await ada.call('floor:claim', { session })).toMatchObject({ status: 'again', fence: 2 });
}, 60_000);

it('keeps who has the seat when the hub is killed in the middle of claims and handovers', async () => {
  await using killed = await TestHub.start();
  const { session_id: session } = await killed.client.call('floor:open', { project: 'p' });
  const people = [await invited(killed, 'ada'), await invited(killed, 'bob')];
  await killed.client.call('floor:handoff', { session });
  /** What was acknowledged, in its order. */
  let last: { readonly fence: number; readonly driver: string | undefined } = { fence: 1, driver: undefined };
  for (let round = 0; round < 2; round++) {
    let running = true;
    const work = people.map(async (one) => {
      while (running) {
        try {
          const { fence, session: held } = await one.call('floor:claim', { session });
          last = { fence, driver: held.driver };
          await one.call('floor:handoff', { session, fence });
          if (last.fence === fence) last = { fence, driver: undefined };
        } catch (error) {
          if (!(error instanceof PolyError)) return; // The hub is gone.
        }
      }
    });
    const before = last.fence;
    await until(() => last.fence > before + 3);
    await killed.kill('SIGKILL');
    running = false;
    await Promise.all(work);
    await killed.start();
    const found = await killed.client.call('floor:session', { session });
    // One claim or handover may have been committed and not answered.
    expect(found.fence - last.fence).toBeOneOf([0, 1]);
    const { entries } = await killed.client.call('floor:timeline', {
      ...{ session, kinds: ['handoff'], limit: 500 },
    });
    const claims = entries.filter(({ data }) => data.event === 'floor:claimed');
    expect(claims.map(({ data }) => data.fence)).toEqual(claims.map((_, at) => at + 2));
    expect(claims.at(-1)?.data.fence).toBe(found.fence);
    const lastEvent = entries.at(-1)?.data;
    expect(found.driver).toBe(lastEvent?.event === 'floor:claimed' ? lastEvent.driver : undefined);
    last = { fence: found.fence, driver: found.driver };
    if (found.driver !== undefined)
      await people[found.driver === 'user:ada' ? 0 : 1]?.call('floor:handoff', { session });
  }
}, 90_000);
