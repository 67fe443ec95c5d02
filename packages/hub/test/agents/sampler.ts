import { setTimeout as pause } from 'node:timers/promises';
import type { AgentInfo, AgentStatus, PaneScreen } from '@polyphony/protocol';
import type { TestHub } from '../test-hub.ts';
import { rules } from './agent.ts';
import type { AgentName } from './installed-agents.ts';

interface Sample {
  readonly at: number;
  readonly shown: AgentStatus;
  readonly info: AgentInfo;
}

const everyMs = 25;
const patienceMs = 120_000;
/** For so long a screen must have shown something before the state has to agree. */
const graceMs = 1_000;

/** Looks at an agent's screen and at what the hub says of it, all the time, and compares them. */
export class Sampler {
  readonly #hub: TestHub;
  readonly #name: AgentName;
  readonly #paneId: string;
  readonly #screen: () => Promise<PaneScreen>;
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

  /** Where the agent was said to rest although its screen had shown for a while that it works or waits. */
  get falseRests(): readonly string[] {
    return this.#contradictions(['running', 'blocked'], ['idle', 'done']);
  }

  get missedBlocks(): readonly string[] {
    return this.#contradictions(['blocked'], ['idle', 'done', 'running', 'unknown']);
  }

  #contradictions(shown: readonly AgentStatus[], said: readonly AgentStatus[]): readonly string[] {
    let since: number | undefined;
    return this.#samples.flatMap((sample) => {
      since = shown.includes(sample.shown) ? (since ?? sample.at) : undefined;
      const wrong = since !== undefined && sample.at > since + graceMs && said.includes(sample.info.status);
      return wrong
        ? [
            `${sample.shown} since ${Math.round(sample.at - (since ?? 0))} ms, but ${JSON.stringify(sample.info)}`,
          ]
        : [];
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
    return `${this.#samples.length} samples; behind the screen at its ${lags.length} changes: ${lags.join(', ')} ms`;
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
        this.#samples.push({ at: performance.now(), shown, info });
      }
      await pause(everyMs);
    }
  }
}
