import { setTimeout as pause } from 'node:timers/promises';
import type { AgentInfo, AgentStatus, PaneScreen } from '@polyphony/protocol';
import type { TestHub } from '../test-hub.ts';
import { rules } from './agent.ts';
import type { AgentName } from './installed-agents.ts';
import { ProcessorWaits } from './processor-waits.ts';

interface Sample {
  readonly at: number;
  readonly shown: AgentStatus;
  readonly info: AgentInfo;
  /** For how long those who draw and tell have waited for a processor until then. */
  readonly waitedMs: number;
}

/** A time in which the screen and the state said different things. */
interface Apart {
  readonly shownBefore: boolean;
  /** What it showed last before, as far as that could be read. */
  readonly before: AgentStatus | undefined;
  readonly shownAfter: boolean;
  /** The state said that it rests. */
  readonly rests: boolean;
  /** For how long, and how many samples had it. */
  readonly ms: number;
  readonly samples: number;
  /** It is in time but for what those who draw and tell waited for a processor meanwhile. */
  readonly excused: boolean;
  readonly tooLong: boolean;
  readonly told: string;
}

const everyMs = 25;
const patienceMs = 120_000;
/** So far the state may be from the screen: behind it, or a frame before it, which is drawn after what it shows. */
const limitMs = 500;
/** And never so far, however long those who draw and tell had to wait for a processor. */
const mostMs = 2_000;

/** Looks at an agent's screen and at what the hub says of it, all the time, and compares them. */
export class Sampler {
  readonly #hub: TestHub;
  readonly #name: AgentName;
  readonly #paneId: string;
  readonly #screen: () => Promise<PaneScreen>;
  readonly #waits: ProcessorWaits;
  readonly #samples: Sample[] = [];
  readonly #working: Promise<void>;
  #stopped = false;

  /** Its screen is that of a pane of the hub, unless told. */
  constructor(
    hub: TestHub,
    name: AgentName,
    paneId: string,
    screen: () => Promise<PaneScreen> = () => hub.client.call('pane:screen', { paneId }),
  ) {
    this.#hub = hub;
    this.#screen = screen;
    this.#name = name;
    this.#paneId = paneId;
    this.#waits = new ProcessorWaits(hub.home);
    this.#working = this.#sample();
  }

  /** What was said last. */
  get last(): AgentInfo | undefined {
    return this.#samples.at(-1)?.info;
  }

  get length(): number {
    return this.#samples.length;
  }

  /** Resolves when the state is one of these; fails with how it was explained instead. */
  async becomes(expected: readonly AgentStatus[]): Promise<AgentInfo> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const info = this.last;
      if (info && expected.includes(info.status)) return info;
      if (performance.now() > deadline) {
        const paneId = this.#paneId;
        console.log(await this.#history());
        const explained = await this.#hub.client.call('agent:explain', { paneId });
        const { lines, title } = await this.#screen();
        throw new Error(
          `it never was ${expected.join(' or ')}, but ${JSON.stringify(explained, null, 1)} with the title ${title} and\n${lines.join('\n').trimEnd()}`,
        );
      }
      await pause(everyMs);
    }
  }

  /** What was told of it lately, and who said so. */
  async #history(): Promise<string> {
    const told: string[] = [];
    const { seq: last } = await this.#hub.client.emit('sampler', {});
    for await (const { seq, event, at, payload } of this.#hub.events('agent:*,sampler', { since: 0 })) {
      if (seq >= last) break;
      const { status, authority, evidence, kind } = payload as Readonly<Record<string, string>>;
      told.push(
        [new Date(at).toISOString().slice(17, 23), event, status ?? kind, authority, evidence].join(' '),
      );
    }
    return told.slice(-30).join('\n');
  }

  /** What the states were from a sample on, without repetition. */
  statuses(since: number): readonly AgentStatus[] {
    const all = this.#samples.slice(since).map(({ info }) => info.status);
    return all.filter((status, index) => status !== all[index - 1]);
  }

  /** Where the agent was said to rest although its screen showed that it works or waits. */
  get falseRests(): readonly string[] {
    return this.#contradictions(['running', 'blocked'], ['idle', 'done']);
  }

  /** Where it was said not to wait although its screen showed that it does. */
  get missedBlocks(): readonly string[] {
    return this.#contradictions(['blocked'], ['idle', 'done', 'running', 'unknown']);
  }

  /** Where it was said to be at work although its screen had come to rest. */
  get missedRests(): readonly string[] {
    return this.#lateRests.filter(({ tooLong }) => tooLong).map(({ told }) => told);
  }

  get #lateRests(): readonly Apart[] {
    // Only where it showed work before: a turn may be told of long before it is drawn, and be too short to be drawn.
    return this.#apart(['idle'], ['running']).filter(
      ({ before }) => before === 'running' || before === 'blocked',
    );
  }

  /** Where nobody was said to know, or it to have failed, although its screen showed that it works. */
  get missedWork(): readonly string[] {
    return this.#lateWork.filter(({ tooLong }) => tooLong).map(({ told }) => told);
  }

  get #lateWork(): readonly Apart[] {
    return this.#apart(['running'], ['unknown', 'error']);
  }

  /** Where it was said to wait although its screen showed that it had been answered. */
  get falseBlocks(): readonly string[] {
    return this.#lateAnswers.filter(({ tooLong }) => tooLong).map(({ told }) => told);
  }

  get #lateAnswers(): readonly Apart[] {
    // Only where it showed its question before: of that may be told long before it is drawn.
    return this.#apart(['running', 'idle'], ['blocked']).filter(({ before }) => before === 'blocked');
  }

  /**
   * A state that says otherwise than the screen for too long is wrong; and so is one, however short it was, that came
   * and went while the screen showed the same: what is told a frame before it is drawn is true, and stays. That an
   * answered question counts again while it is drawn for long after its answer is right where that is for want of a
   * processor.
   */
  #contradictions(shown: readonly AgentStatus[], said: readonly AgentStatus[]): readonly string[] {
    return this.#apart(shown, said)
      .filter(({ shownBefore, shownAfter, rests, excused, tooLong }) => {
        const cameAndWent = shownBefore && shownAfter && (rests || !excused);
        return tooLong || cameAndWent;
      })
      .map(({ told }) => told);
  }

  /** The times in which the screen showed one thing, and the state was another. */
  #apart(shown: readonly AgentStatus[], said: readonly AgentStatus[]): readonly Apart[] {
    const shows = (at: number): boolean => shown.includes(this.#samples[at]?.shown ?? 'gone');
    const differs = (at: number): boolean =>
      shows(at) && said.includes(this.#samples[at]?.info.status ?? 'gone');
    return this.#samples.flatMap((from, first): readonly Apart[] => {
      if (!differs(first) || differs(first - 1)) return [];
      let last = first;
      while (differs(last + 1)) last++;
      const to = this.#samples[last] as Sample;
      const before = this.#samples.slice(0, first).findLast((one) => one.shown !== 'unknown')?.shown;
      const [ms, waitedMs] = [Math.round(to.at - from.at), Math.round(to.waitedMs - from.waitedMs)];
      const excused = ms > limitMs && ms - waitedMs <= limitMs;
      const { status } = from.info;
      return [
        {
          ...{ shownBefore: shows(first - 1), shownAfter: shows(last + 1), ms, samples: last + 1 - first },
          ...{ excused, tooLong: ms > (excused ? mostMs : limitMs) },
          ...{ before, rests: status === 'idle' || status === 'done' },
          told: `${from.shown} for ${ms} ms (${waitedMs} without a processor), but ${JSON.stringify(from.info)}`,
        },
      ];
    });
  }

  /** How far behind the screen the state was, at each change both show. */
  get summary(): string {
    const lags = this.#samples.flatMap(({ shown, at }, index) => {
      if (shown === this.#samples[index - 1]?.shown || shown === 'unknown') return [];
      const agrees = (status: AgentStatus): boolean =>
        status === shown || (shown === 'idle' && status === 'done');
      const met = this.#samples.slice(index).find(({ info }) => agrees(info.status));
      return met ? [`${Math.round(met.at - at)} (${shown})`] : [];
    });
    const apart = [
      ...this.#apart(['running'], ['idle', 'done']),
      ...this.#apart(['blocked'], ['idle', 'done', 'running', 'unknown']),
      ...this.#lateRests,
      ...this.#lateAnswers,
      ...this.#lateWork,
    ];
    const excused = apart.filter((one) => one.excused);
    const longest = Math.max(0, ...apart.filter((one) => !one.excused).map(({ ms }) => ms));
    const samples = excused.reduce((sum, one) => sum + one.samples, 0);
    return [
      `${this.#samples.length} samples; behind the screen at its ${lags.length} changes: ${lags.join(', ')} ms`,
      `apart from it for ${longest} ms at the most, and longer for want of a processor in ${samples} samples of ${excused.length} times`,
      ...excused.map(({ told }) => `  ${told}`),
    ].join('\n');
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#working;
  }

  async #sample(): Promise<void> {
    const paneId = this.#paneId;
    while (!this.#stopped) {
      const [screen, agents] = await Promise.all([
        this.#screen(),
        this.#hub.client.call('agent:list', {}),
      ]).catch(() => [undefined, []] as const);
      const info = agents.find(({ id }) => id === paneId);
      if (info && screen) {
        const { status: shown } =
          info.status === 'gone' ? { status: 'gone' as const } : rules.readScreen(this.#name, screen);
        this.#samples.push({ at: performance.now(), shown, info, waitedMs: this.#waits.ms });
      }
      await pause(everyMs);
    }
  }
}
