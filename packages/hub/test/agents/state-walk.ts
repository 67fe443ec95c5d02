import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { AgentInfo, AgentStatus, PaneScreen } from '@polyphony/protocol';
import { expect, it } from 'vitest';
import type { TestHub } from '../test-hub.ts';
import { rules } from './agent.ts';
import type { AgentName } from './installed-agents.ts';
import { command, manners } from './manners.ts';
import { Sampler } from './sampler.ts';
import type { ScriptedModel } from './scripted-model.ts';

/** A real agent, wherever it runs, and somebody who sits before it. */
export interface Walked {
  readonly name: AgentName;
  readonly hub: TestHub;
  readonly model: ScriptedModel;
  readonly paneId: string;
  /** The folder it works in. */
  readonly work: string;
  readonly sampler: Sampler;
  /** Whether somebody tells beside its screen. */
  readonly told: boolean;
  /** The tool that is named when it asks for a permission, where that is not the word of its hooks. */
  readonly asksFor?: string;
  screen(): Promise<PaneScreen>;
  press(...keys: readonly string[]): unknown;
  type(text: string): unknown;
  /** Ends its program as whoever started it would. */
  end(): unknown;
}

/** Leads an agent that rests through everything it can be seen doing, with whoever watches it at its heels. */
export function walkStates(name: AgentName, walked: () => Walked): void {
  const { interrupt, failed, clear, question: asking } = manners[name];
  const becomes = (...expected: readonly AgentStatus[]): Promise<AgentInfo> =>
    walked().sampler.becomes(expected);
  const message = (text: string): Promise<unknown> =>
    walked().hub.client.call('agent:message', { paneId: walked().paneId, text });
  const look = (): Promise<unknown> => walked().hub.client.call('agent:seen', { paneId: walked().paneId });
  const made = (): boolean => existsSync(join(walked().work, 'made-by-tool'));
  const session = async (): Promise<unknown> => {
    const { hub, paneId } = walked();
    return (await hub.client.call('agent:explain', { paneId })).sessionId;
  };
  /** It does nothing, and somebody has seen that; who looked a moment before it was done looks again. */
  const rests = async (): Promise<void> => {
    do {
      await becomes('idle', 'done');
      await look();
    } while ((await becomes('idle', 'done')).status === 'done');
  };
  /** Presses keys, now and then, until it does something else: not every agent reads them at any moment. */
  const pressUntilNot = async (status: AgentStatus, keys: readonly string[]): Promise<void> => {
    while (walked().sampler.last?.status === status) {
      for (const key of keys) {
        await walked().press(key);
        await pause(300);
      }
      await pause(500);
    }
  };
  /** Its question is there to be read: Codex 0.166.0 shows it only when nobody has typed for a moment. */
  const showsQuestion = async (): Promise<void> => {
    await expect
      .poll(async () => rules.readScreen(name, await walked().screen()).status, { timeout: 60_000 })
      .toBe('blocked');
    await becomes('blocked');
    // No person answers before the hub has looked at it too, some tenths of a second later.
    const { hub, paneId } = walked();
    const seen = async (): Promise<boolean> =>
      (await hub.client.call('agent:explain', { paneId })).signals.some(
        ({ authority, status }) => authority === 'screen' && status === 'blocked',
      );
    await expect.poll(seen, { timeout: 30_000 }).toBe(true);
  };

  it('works until its answer has ended, and is done until somebody looks', async () => {
    const { sampler, model } = walked();
    await message('take your time');
    // The hooks of a prompt run before its model is asked: until then Codex 0.166.0 shows now this, now that.
    await model.server.asked(({ said, tools }) => said.includes('take your time') && tools.length > 0);
    await becomes('running');
    const since = sampler.length;
    await pause(3_000);
    expect(sampler.statuses(since)).toEqual(['running']);
    model.letGo();
    await becomes('done');
    expect(sampler.statuses(since)).toEqual(['running', 'done']);
    await rests();
  });

  it('waits for a permission, says for which, and rests when it is refused', async () => {
    const { sampler, hub, paneId, press, told, asksFor = manners[name].asksFor } = walked();
    await message('run the tool');
    await becomes('blocked');
    const reason = told
      ? { kind: 'permission', tool: asksFor, input: expect.stringContaining(command) }
      : { kind: 'permission' };
    await expect.poll(() => sampler.last?.reason, { timeout: 30_000 }).toMatchObject(reason);
    const since = sampler.length;
    await pause(2_000);
    expect(sampler.statuses(since)).toEqual(['blocked']);
    const { rule, signals } = await hub.client.call('agent:explain', { paneId });
    expect(rule).not.toBe('');
    expect(signals.filter(({ decides }) => decides)).toHaveLength(1);
    await press('Escape');
    await rests();
    expect(made()).toBe(false);
  });

  it('works while the tool runs that was permitted', async () => {
    const { sampler } = walked();
    await message('run the tool again');
    await showsQuestion();
    const since = sampler.length;
    await pressUntilNot('blocked', ['Enter']);
    await becomes('done');
    expect(made()).toBe(true);
    expect(sampler.statuses(since)).toEqual(['blocked', 'running', 'done']);
    await rests();
  });

  if (asking)
    it('waits for an answer to its question, and goes on with it', async () => {
      const { sampler, told } = walked();
      await message('ask me');
      await showsQuestion();
      const asked = told ? { text: 'Which colour?', options: ['Red', 'Blue'] } : {};
      await expect
        .poll(() => sampler.last?.reason, { timeout: 30_000 })
        .toMatchObject({ kind: 'question', ...asked });
      await pressUntilNot('blocked', ['Enter']);
      await rests();
    });

  it('rests when it is interrupted, which few hooks tell', async () => {
    const { model } = walked();
    model.hold();
    await message('take your time again');
    await becomes('running');
    await pause(1_000);
    await pressUntilNot('running', interrupt);
    model.letGo();
    await rests();
  });

  it('says that a turn has failed', async () => {
    await message('fail now');
    if (!walked().told && failed === 'done') {
      // A turn this short may be over between two looks at the screen, which then tells nothing of it.
      await expect
        .poll(async () => (await walked().screen()).lines.join('\n'), { timeout: 60_000 })
        .toContain('refused by the test');
      await becomes('done', 'idle');
    } else await becomes(walked().told ? 'error' : failed);
    await look();
  });

  it('rests when its conversation is begun anew, and works in that', async () => {
    const { press, type } = walked();
    const before = await session();
    await type(clear);
    await pause(1_000); // Enter right behind it would be part of a paste.
    await press('Enter');
    // Before that, text would be typed into the conversation that is about to go.
    await expect
      .poll(async () => (await walked().screen()).lines.join('\n'), { timeout: 60_000 })
      .not.toContain('fail now');
    // Claude Code 2.1.325 is busy with it for a moment. What OpenCode said of its last turn holds until the next.
    await becomes('idle', 'done', ...(name === 'opencode' ? (['error'] as const) : []));
    await look();
    await message('remember me');
    // A turn this short may be over between two looks at the screen, which then tells nothing of it.
    await becomes('done', ...(walked().told ? [] : (['idle'] as const)));
    await expect
      .poll(async () => (await walked().screen()).lines.join('\n'), { timeout: 60_000 })
      .toContain('I heard: remember me');
    await rests();
    // The file of a conversation is looked for now and then.
    if (before !== undefined) await expect.poll(session, { timeout: 30_000 }).not.toBe(before);
  });

  it('is gone when it has ended, and was never taken for idle while it worked', async () => {
    const { sampler, end, told } = walked();
    await end();
    await becomes('gone');
    await sampler.stop();
    console.log(`${name}${told ? '' : ' by its screen'}: ${sampler.summary}`);
    expect(sampler.falseRests).toEqual([]);
    expect(sampler.missedBlocks).toEqual([]);
    expect(sampler.missedRests).toEqual([]);
    expect(sampler.falseBlocks).toEqual([]);
    expect(sampler.missedWork).toEqual([]);
  });

  it('is taken up again with its conversation, where that is known', async () => {
    const { hub, paneId } = walked();
    const known = await session();
    if (known === undefined) {
      await expect(hub.client.call('agent:resume', { paneId })).rejects.toMatchObject({
        code: 'unavailable',
      });
      return;
    }
    // A hook tells of its end a moment before its process has ended.
    const resumed = (): Promise<string> =>
      hub.client.call('agent:resume', { paneId }).then(
        () => 'back',
        (error: Error) => error.message,
      );
    await expect.poll(resumed, { timeout: 30_000, interval: 500 }).toBe('back');
    const back = new Sampler(hub, name, paneId);
    try {
      await back.becomes(['idle', 'done']);
      // Gemini 0.61.0 shows its composer before it shows what was said.
      const shown = async () => (await hub.client.call('pane:screen', { paneId })).lines.join('\n');
      await expect.poll(shown, { timeout: 60_000 }).toContain('remember me');
      expect(await session()).toBe(known);
    } finally {
      await back.stop();
    }
  });
}
