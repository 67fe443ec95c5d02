import { expect, it } from 'vitest';
import { type Random, systemRandom } from '../src/platform/random.ts';
import { FloorGround } from './floor-ground.ts';

it('makes the name of a session longer when every short one is taken, and never shares a session', async () => {
  // Whatever is drawn, a name of four digits is always the same one.
  const random: Random = {
    ...systemRandom,
    hex: (bytes) => (bytes === 2 ? 'aaaa' : systemRandom.hex(bytes)),
  };
  await using ground = await FloorGround.open({ random });
  const { sessions } = ground.floor;
  const join = (pane: string) => sessions.join(ground.pane(pane), 'shop', {}, ground.commit);
  const [first, second, third] = [await join('one'), await join('two'), await join('three')];
  expect(first.session.slug).toBe('s-aaaa');
  for (const { session, status } of [second, third]) {
    expect(session.slug).toMatch(/^s-[0-9a-f]{6}$/);
    expect(status).toBe('created');
  }
  expect(new Set([first, second, third].map(({ session }) => session.session_id)).size).toBe(3);
});

it('lets two who join one new session at once meet in it', async () => {
  await using ground = await FloorGround.open();
  const { sessions } = ground.floor;
  const panes = ['one', 'two', 'three', 'four', 'five'];
  const joined = await Promise.all(
    panes.map((pane) => sessions.join(ground.pane(pane), 'shop', { session: 'design' }, ground.commit)),
  );
  expect(new Set(joined.map(({ session }) => session.session_id)).size).toBe(1);
  expect(joined.map(({ status }) => status).toSorted()).toEqual([
    'created',
    ...Array.from({ length: panes.length - 1 }, () => 'joined'),
  ]);
  const shown = await sessions.show(await sessions.find('Design', 'SHOP'));
  expect(shown.bindings.map(({ pane }) => pane).toSorted()).toEqual(panes.toSorted());
});

it('has a pane feed one session at a time, however many it joins at once', async () => {
  await using ground = await FloorGround.open();
  const { sessions } = ground.floor;
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  await Promise.all(
    names.map((session) => sessions.join(ground.pane('one'), 'shop', { session }, ground.commit)),
  );
  const { sessions: listed } = await sessions.list('shop', {});
  expect(listed).toHaveLength(names.length);
  expect(listed.flatMap(({ bindings }) => bindings)).toHaveLength(1);
});
