import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Client,
  type FloorAdvised,
  type FloorSession,
  type MailDelivery,
  participantOf,
  type TimelineEntry,
} from '@polyphony/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Reading } from '../../src/agents/read-screen.ts';
import { invited } from '../people-ground.ts';
import { TestHub, until } from '../test-hub.ts';
import { wholeTimeline } from '../timeline-ground.ts';
import { type Agent, createAgent } from './agent.ts';
import { createAgentHome } from './agent-home.ts';
import type { AgentName } from './installed-agents.ts';
import { command, manners } from './manners.ts';
import { buildPlugin } from './opencode-server.ts';
import { ScriptedModel } from './scripted-model.ts';
import { telling } from './telling.ts';

const me = participantOf('user', userInfo().username);

interface Row {
  /** By which door advice comes in the midst of a turn, and to one that rests; nothing where it waits for a turn. */
  readonly busy: RegExp;
  readonly idle?: RegExp;
  /** What else a refusal is: Codex 0.166.0 breaks the turn off. */
  readonly refused?: readonly string[];
}

const rows: Readonly<Record<AgentName, Row>> = {
  claude: { busy: /^(wake hook|hook context)$/, idle: /^wake hook$/ },
  codex: { busy: /^codex queue$/, idle: /^codex queue$/, refused: ['interrupt of me'] },
  opencode: { busy: /^wake hook$/, idle: /^wake hook$/ },
  gemini: { busy: /^hook context$/ },
};

const isIdle = ({ status, composer }: Reading): boolean => status !== 'running' && composer?.draft === '';

/** What a story is made of; what comes and goes around it differs from one agent to the next. */
const parts: ReadonlySet<string> = new Set([
  ...['prompt', 'answer', 'tool', 'asked', 'approved', 'rejected', 'interrupt', 'failure', 'advice', 'gap'],
]);
const inWords: ReadonlySet<string> = new Set(['prompt', 'answer', 'advice']);

describe.each(Object.keys(rows) as AgentName[])('the session that a real %s feeds', (name) => {
  const { interrupt, clear } = manners[name];
  const { busy, idle, refused = [] } = rows[name];
  const people: Readonly<Record<string, string>> = { [me]: 'me', 'user:ada': 'ada', [`agent:${name}`]: 'it' };
  let hub: TestHub;
  let model: ScriptedModel;
  let agent: Agent;
  let ada: Client;
  let session: FloorSession;
  let answers = 0;
  /** What the timeline holds so far, in order. */
  const story: string[] = [];

  beforeAll(async () => {
    if (name === 'opencode') buildPlugin();
    // No two answers are the same, so that each is found again.
    model = await ScriptedModel.start(name, () => ({ text: `Answer ${++answers}.` }));
    const home = await createAgentHome(name, model.server.url);
    const { HOME: _, PATH: __, ...keys } = home.env;
    // Keys are not kept with a pane: the hub that takes an agent up again has them.
    hub = await TestHub.start({ env: keys });
    const prepare = telling(name, () => hub);
    agent = await createAgent(hub, name, { home, model: model.server.url, permissions: 'ask', prepare });
    ada = await invited(hub, 'ada');
    await agent.until('it idle', isIdle);
  });
  afterAll(async () => {
    await hub?.[Symbol.asyncDispose]();
    await agent?.remove();
    await model?.close();
  });

  const press = (...keys: readonly string[]): Promise<unknown> =>
    hub.client.call('pane:keys', { paneId: agent.pane.id, keys: [...keys] });
  const rests = (): Promise<Reading> => agent.until('it idle', isIdle);
  const asks = (): Promise<Reading> =>
    agent.until('its question', ({ blockedOn }) => blockedOn === 'permission');
  const works = (): Promise<Reading> => agent.until('it at work', ({ status }) => status === 'running');

  const inShort = ({ kind, sender, text, result }: TimelineEntry): string =>
    [
      ...[kind, 'of', people[sender] ?? sender],
      ...(inWords.has(kind) ? [text.trim()] : text.includes(command) ? ['(the command)'] : []),
      ...(result ? ['with its result'] : []),
    ].join(' ');
  const told = async (): Promise<readonly string[]> =>
    (await wholeTimeline(hub, session.session_id)).filter(({ kind }) => parts.has(kind)).map(inShort);
  /** Waits until the timeline holds what it held before, and this. */
  const tells = async (...more: readonly string[]): Promise<void> => {
    try {
      await expect.poll(told, { timeout: 120_000 }).toEqual([...story, ...more]);
    } finally {
      story.splice(0, story.length, ...(await told()));
    }
  };
  /** The same, with whatever the agent has answered in between. */
  const tellsBesideAnswers = async (...more: readonly string[]): Promise<void> => {
    const now = async (): Promise<readonly string[]> => (await told()).slice(story.length);
    const isNoAnswer = (one: string): boolean => !one.startsWith('answer of it ');
    try {
      await expect.poll(async () => (await now()).filter(isNoAnswer), { timeout: 120_000 }).toEqual(more);
      await expect.poll(async () => answersIn(await told()), { timeout: 120_000 }).toEqual(numbered(answers));
    } finally {
      story.push(...(await now()));
    }
  };

  const stateOf = async ({ message_id }: FloorAdvised): Promise<MailDelivery> => {
    const [found] = (await ada.call('mail:status', { message_id })).statuses;
    if (!found) throw new Error('nobody is to get it');
    return found;
  };
  const advise = (text: string): Promise<FloorAdvised> =>
    ada.call('floor:advise', { session: session.session_id, text });
  const inState = (advised: FloorAdvised, ...states: readonly string[]): Promise<MailDelivery> =>
    until(async () => {
      const found = await stateOf(advised);
      return states.includes(found.state) && found;
    });
  /** How often a model was told of it, in all that one conversation holds. */
  const timesTold = ({ event_id }: FloorAdvised): number => {
    const asked = model.server.turns.filter(({ tools }) => tools.length > 0);
    return Math.max(
      0,
      ...asked.map(({ body }) => JSON.stringify(body).split(`[advice ${event_id}]`).length - 1),
    );
  };

  it('begins with the first prompt, though it was joined before there was a conversation', async () => {
    const joined = await hub.client.call('floor:join', {
      ...{ project: 'shop', session: 'work', pane: agent.pane.id },
    });
    ({ session } = joined);
    expect(joined).toMatchObject({ status: 'created', session: { agent: `agent:${name}`, driver: me } });
    await agent.message('hello');
    await agent.until('its answer', (_, screen) => screen.includes('Answer 1.'));
    await tells('prompt of me hello', 'answer of it Answer 1.');
    await rests();
  });

  it('has a tool that was permitted, with its result', async () => {
    await agent.message('run the tool');
    await asks();
    // Not every agent reads keys at any moment.
    while (!existsSync(join(agent.work, 'made-by-tool'))) {
      await press('Enter');
      await pause(700);
    }
    await tells(
      ...['prompt of me run the tool', 'tool of it (the command) with its result'],
      ...[askedFor(name), answeredWith('approved', name), 'answer of it Answer 2.'],
    );
    await rests();
  });

  it('has a tool that was refused, which few hooks tell', async () => {
    await agent.message('run the tool again');
    await asks();
    await pause(1_500); // Claude Code 2.1.325 takes no answer right after it has asked.
    await press('Escape');
    await tells(
      ...['prompt of me run the tool again', 'tool of it (the command)'],
      ...[askedFor(name), answeredWith('rejected', name), ...refused],
    );
    await rests();
  });

  it('has the end of a turn that ended while the hub was dead', async () => {
    model.hold();
    await agent.message('take your time');
    await works();
    await hub.kill('SIGKILL');
    model.letGo();
    const journal = join(hub.dir, 'journal', 'new');
    const isOver = (file: string): boolean =>
      /"(Stop|AfterAgent|session\.idle)"/.test(readFileSync(join(journal, file), 'utf8'));
    await until(() => readdirSync(journal).some(isOver));
    await hub.start();
    await tells('prompt of me take your time', 'answer of it I am at it');
    await rests();
  });

  it('has that somebody broke a turn off', async () => {
    model.hold();
    await agent.message('take your time again');
    await works();
    await pause(1_000);
    // By its screen: one Esc too many opens a list of what Claude Code 2.1.325 could go back to.
    while ((await agent.until('anything', () => true)).status === 'running') {
      for (const key of interrupt) {
        await press(key);
        await pause(300);
      }
      await pause(500);
    }
    model.letGo();
    // Of what it had said by then Gemini 0.61.0 tells as of an answer.
    const soFar = async (): Promise<string | undefined> => (await told())[story.length + 1];
    const said = name === 'gemini' ? await until(soFar) : 'interrupt of me';
    expect(['interrupt of me', 'answer of it I am at it']).toContain(said);
    await tells('prompt of me take your time again', said);
    await rests();
  });

  it('has that a turn has failed', async () => {
    await agent.message('fail now');
    await tells('prompt of me fail now', 'failure of it');
    const [failed] = await wholeTimeline(hub, session.session_id, { kinds: ['failure'] });
    // Of what a screen shows the beginning is kept.
    expect(failed?.text).toContain('refused by');
    await rests();
  });

  it('brings advice into a turn that runs, once, and says so when it was seen', async () => {
    model.hold();
    await agent.message('look around');
    await works();
    // OpenCode 1.18.33 draws its turn a moment before it tells of the prompt.
    await until(async () => (await told()).includes('prompt of me look around'));
    const advised = await advise('Mind the gap.');
    await inState(advised, 'written', 'seen');
    expect(timesTold(advised)).toBe(0);
    expect((await stateOf(advised)).state).toBe('written');
    model.letGo();
    const seen = await inState(advised, 'seen');
    expect(seen.door).toMatch(busy);
    // What came as a prompt is seen once its hook has told of it, and then asked of the model.
    const mark = `[advice ${advised.event_id}]`;
    const notices = await wholeTimeline(hub, session.session_id, { kinds: ['notice'] });
    if (seen.door !== 'hook context') expect(notices.some(({ text }) => text.includes(mark))).toBe(true);
    await model.server.asked(({ body, tools }) => tools.length > 0 && JSON.stringify(body).includes(mark));
    await rests();
    await tellsBesideAnswers(
      ...['prompt of me look around', 'advice of ada Mind the gap.', 'tool of it with its result'],
    );
    expect(timesTold(advised)).toBe(1);
  });

  it('brings advice to one that rests, once, though the hub is killed right after it took it', async () => {
    await rests();
    const advised = await advise('Mind the step.');
    await hub.kill('SIGKILL');
    await hub.start();
    if (!idle) {
      // Nothing wakes it: it lies where the hook of the next prompt finds it.
      expect(await inState(advised, 'written')).toMatchObject({ door: 'hook context' });
      expect(timesTold(advised)).toBe(0);
      await agent.message('go on');
    }
    const seen = await inState(advised, 'seen');
    expect(seen.door).toMatch(idle ?? busy);
    await rests();
    await tellsBesideAnswers('advice of ada Mind the step.', ...(idle ? [] : ['prompt of me go on']));
    expect(timesTold(advised)).toBe(1);
  });

  it('stays the same when the conversation is begun anew', async () => {
    const before = await hub.client.call('floor:session', { session: session.session_id });
    await hub.client.call('pane:write', { paneId: agent.pane.id, data: clear });
    await pause(1_000); // Enter right behind it would be part of a paste.
    await press('Enter');
    await agent.until(
      'nothing of before',
      (reading, screen) => isIdle(reading) && !screen.includes('Answer'),
    );
    const next = answers + 1;
    await agent.message('after the clear');
    await tells('prompt of me after the clear', `answer of it Answer ${next}.`);
    await rests();
    const after = await hub.client.call('floor:session', { session: session.session_id });
    expect(after.bindings).toMatchObject([{ pane: agent.pane.id, vendor: name }]);
    expect(after.bindings[0]?.conversation).not.toBe(before.bindings[0]?.conversation);
  });

  it('goes on when the conversation is taken up again after its program has ended', async () => {
    const paneId = agent.pane.id;
    await hub.client.call('pane:close', { paneId, cleanup: false });
    // A hook tells of its end a moment before its process has ended.
    const resumed = (): Promise<string> =>
      hub.client.call('agent:resume', { paneId }).then(
        () => 'back',
        (error: Error) => error.message,
      );
    await expect.poll(resumed, { timeout: 120_000, interval: 500 }).toBe('back');
    await agent.until('it back', (reading, screen) => isIdle(reading) && screen.includes('after the clear'));
    const next = answers + 1;
    await agent.message('once more');
    await tells('prompt of me once more', `answer of it Answer ${next}.`);
    const { bindings } = await hub.client.call('floor:session', { session: session.session_id });
    expect(bindings).toMatchObject([{ pane: paneId, vendor: name }]);
    await rests();
  });

  it('is whole, in order, of who did it, and the only one', async () => {
    const all = await wholeTimeline(hub, session.session_id);
    const times = all.map(({ at }) => Date.parse(at));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(answersIn(await told())).toEqual(numbered(answers));
    expect(all.filter(({ sender }) => people[sender] === undefined)).toEqual([]);
    const { sessions } = await hub.client.call('floor:sessions', { project: 'shop' });
    expect(sessions.map(({ slug }) => slug)).toEqual(['work']);
  });
});

const numbered = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `answer of it Answer ${index + 1}.`);
const answersIn = (told: readonly string[]): readonly string[] =>
  told.filter((one) => one.startsWith('answer of it Answer'));

/** OpenCode 1.18.33 asks for each part of a line by itself. */
const askedFor = (name: AgentName): string => `asked of it${name === 'opencode' ? '' : ' (the command)'}`;
const answeredWith = (kind: string, name: AgentName): string =>
  `${kind} of me${name === 'opencode' ? '' : ' (the command)'}`;
