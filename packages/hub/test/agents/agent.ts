import { setTimeout as pause } from 'node:timers/promises';
import { compose } from '../../src/agents/compose.ts';
import { launch } from '../../src/agents/launch.ts';
import { type Reading, readScreen } from '../../src/agents/read-screen.ts';
import { createAgentHome } from './agent-home.ts';
import { type AgentName, installAgent } from './installed-agents.ts';
import { openTerminal } from './terminal.ts';

export interface AgentOptions {
  /** Where its model listens. */
  readonly model: string;
  readonly modelName?: string;
  readonly permissions?: 'ask' | 'auto';
  readonly prompt?: string;
}

/** A real agent in a terminal. */
export interface Agent {
  /** The directory it works in. */
  readonly work: string;
  read(): Reading;
  screen(): string;
  until(what: string, fits: (reading: Reading) => boolean): Promise<Reading>;
  /** Types a message once the agent is idle; fails, and types nothing, when it is blocked or has a draft. */
  send(text: string): Promise<void>;
  close(): Promise<void>;
}

export async function startAgent(name: AgentName, options: AgentOptions): Promise<Agent> {
  const program = await installAgent(name);
  const home = await createAgentHome(name, options.model);
  const { argv, env, vendor } = launch({
    argv: [program],
    model: options.modelName,
    permissions: options.permissions,
    prompt: options.prompt,
  });
  const terminal = openTerminal({ argv, cwd: home.work, env: { ...home.env, ...env } });

  const until: Agent['until'] = async (what, fits) =>
    readScreen(vendor, await terminal.until(what, (screen) => fits(readScreen(vendor, screen)), 120_000));

  return {
    work: home.work,
    read: () => readScreen(vendor, terminal.screen()),
    screen: () => terminal.screen().lines.join('\n'),
    until,
    async send(text) {
      // Codex is idle for a moment, busy starting, and idle again.
      const ready = await until(
        'it idle or blocked',
        ({ status }) => status === 'idle' || status === 'blocked',
      );
      if (ready.composer?.draft !== '') throw new Error(`the agent is ${ready.status} (${ready.evidence})`);
      const { paste, pauseMs, enter } = compose(vendor, text, { bracketedPaste: terminal.bracketedPaste() });
      terminal.write(paste);
      await until('the message in the composer', (reading) => Boolean(reading.composer?.draft));
      await pause(pauseMs);
      terminal.write(enter);
      await until('the message leave the composer', (reading) => !reading.composer?.draft);
    },
    async close() {
      await terminal.close();
      await home.remove();
    },
  };
}
