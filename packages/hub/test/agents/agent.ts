import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { AgentCreateParams, AgentPane, Delivery, PaneScreen } from '@polyphony/protocol';
import type { Reading } from '../../src/agents/read-screen.ts';
import { ScreenRules } from '../../src/agents/screens/screen-rules.ts';
import type { TestHub } from '../test-hub.ts';
import { type AgentHome, createAgentHome } from './agent-home.ts';
import { type AgentName, installAgent } from './installed-agents.ts';

export interface AgentOptions extends Pick<AgentCreateParams, 'permissions' | 'prompt'> {
  /** Where its model listens. */
  readonly model: string;
  readonly modelName?: string;
  /** A home that is there already. */
  readonly home?: AgentHome;
  /** Flags of its own. */
  readonly args?: readonly string[];
  /** What is done in its home before it starts. */
  readonly prepare?: (env: Readonly<Record<string, string>>) => void;
}

/** A real agent in a pane of a real hub. */
export interface Agent {
  readonly pane: AgentPane;
  /** The directory it works in. */
  readonly work: string;
  screen(): Promise<string>;
  /** Resolves with the first screen that fits; fails with what it showed instead. */
  until(what: string, fits: (reading: Reading, screen: string) => boolean): Promise<Reading>;
  message(text: string): Promise<Delivery>;
  /** Whatever it has started and is still there. */
  processes(): readonly string[];
  remove(): Promise<void>;
}

const patienceMs = 120_000;
export const rules: ScreenRules = new ScreenRules({
  shipped: join(import.meta.dirname, '../../screens'),
  own: '/dev/null',
});
const textOf = ({ lines }: PaneScreen): string => lines.join('\n').trimEnd();

export async function createAgent(hub: TestHub, name: AgentName, options: AgentOptions): Promise<Agent> {
  const program = await installAgent(name);
  const home = options.home ?? (await createAgentHome(name, options.model));
  const { modelName: model, permissions, prompt, args = [] } = options;
  const { work, env } = home;
  options.prepare?.(env);
  const pane = await hub.client
    .call('agent:create', { argv: [program, ...args], cwd: work, env, model, permissions, prompt })
    .catch(async (error: unknown) => {
      await home.remove();
      throw error;
    });
  const paneId = pane.id;
  const look = (): Promise<PaneScreen> => hub.client.call('pane:screen', { paneId });

  return {
    pane,
    work,
    screen: async () => textOf(await look()),
    async until(what, fits) {
      const deadline = performance.now() + patienceMs;
      for (;;) {
        const screen = await look();
        const reading = rules.readScreen(name, screen);
        if (fits(reading, textOf(screen))) return reading;
        if (performance.now() > deadline) {
          throw new Error(
            `${patienceMs} ms went by before ${name} showed ${what}, but ${JSON.stringify(reading)} with the title ${JSON.stringify(screen.title)} and\n${textOf(screen)}`,
          );
        }
        await pause(50);
      }
    },
    message: (text) => hub.client.call('agent:message', { paneId, text }),
    processes: () => processesWith(env.HOME ?? ''),
    remove: () => home.remove(),
  };
}

/** The processes that have a home in their environment. */
export function processesWith(home: string): readonly string[] {
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  return pids.flatMap((pid) => {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'utf8').includes(home)) return [];
      return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`];
    } catch {
      return []; // It has ended meanwhile, or is somebody else's.
    }
  });
}
