import { PolyError } from '@polyphony/protocol';
import type { Command, Engine, Reply } from '@polyphony/tmux';
import { commandsOf } from './commands.ts';
import { isSafeFor, spareFromRaw } from './raw-command.ts';
import type { Use } from './verb.ts';

/**
 * An engine that refuses what ends the caller. It looks right before each command: what a name stands for may have
 * changed with the command before. So it sends one after the other. A refusal is thrown, or answered as one of tmux's
 * where a plan has to tell which of its steps that was.
 */
export function sparedEngine(use: Use, tool: string, refusal: 'thrown' | 'answered'): Engine {
  const { engine } = use.seat;
  if (isSafeFor(use)) return engine;
  const known = commandsOf(use);
  known.catch(() => undefined); // Whoever awaits it is told.
  const run: Engine['run'] = async (command, options) => {
    try {
      const argv = await spareFromRaw(command.argv, use, { tool, known });
      return await engine.run({ ...command, argv }, options);
    } catch (error) {
      if (refusal === 'answered' && error instanceof PolyError) return refused(error);
      throw error;
    }
  };
  const runChain = async (
    commands: readonly Command[],
    options?: Parameters<Engine['runChain']>[1],
  ): Promise<readonly Reply[]> => {
    const replies: Reply[] = [];
    for (const command of commands) {
      const stopped = replies.some(({ status }) => status !== 'complete');
      replies.push(stopped ? { status: 'skipped', stdout: '', stderr: '' } : await run(command, options));
    }
    return replies;
  };
  return {
    ...{ name: engine.name, ordered: false, run, runChain },
    version: () => engine.version(),
    close: async () => undefined,
  };
}

function refused({ info: { code, message, hint } }: PolyError): Reply {
  return { status: 'failed', stdout: '', stderr: [`${code}: ${message}`, hint].filter(Boolean).join(' ') };
}
