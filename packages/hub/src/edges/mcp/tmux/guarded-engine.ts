import { PolyError } from '@polyphony/protocol';
import type { Command, Engine, Reply } from '@polyphony/tmux';
import { type Commands, commandsOf } from './commands.ts';
import { endingRule } from './ending-rule.ts';
import { type Rule, readRaw } from './raw-command.ts';
import { typingRule } from './typing-rule.ts';
import type { Use } from './use.ts';

type Refusal = 'thrown' | 'answered';

/** What every tool sends its commands by: nobody types where another drives. */
export const seatedEngine = (use: Use): Engine => guardedEngine(use, 'tmux', [typingRule], 'thrown');

/** The same for commands of which it is not known what they do: none of them ends the caller either. */
export const sparedEngine = (use: Use, tool: string, refusal: Refusal): Engine =>
  guardedEngine(use, tool, bothRules, refusal);

const bothRules: readonly Rule[] = [typingRule, endingRule];

/** Refuses words that would be refused if they were sent now. */
export async function requireAllowed(argv: readonly string[], use: Use, tool: string): Promise<void> {
  for (const rule of bothRules)
    if (!(await rule.isFree(use))) await readRaw(rule, argv, use, { tool, commands: await commandsOf(use) });
}

/**
 * An engine that refuses what breaks a rule. It looks right before each command: what a name stands for may have changed
 * with the command before. So it sends one after the other while a rule has something to say. A refusal is thrown, or
 * answered as one of tmux's where a plan has to tell which of its steps that was.
 */
function guardedEngine(use: Use, tool: string, rules: readonly Rule[], refusal: Refusal): Engine {
  const engine = use.bare;
  const isUnwatched = use.isAlone && (rules.length === 1 || endingRule.isFree(use) === true);
  let known: Promise<Commands> | undefined;
  const commands = (): Promise<Commands> => {
    known ??= commandsOf(use);
    return known;
  };
  const hasToLook = async (): Promise<readonly Rule[]> => {
    const free = await Promise.all(rules.map((rule) => rule.isFree(use)));
    return rules.filter((_, index) => !free[index]);
  };
  const run: Engine['run'] = async (command, options) => {
    try {
      let { argv } = command;
      for (const rule of await hasToLook())
        argv = await readRaw(rule, argv, use, { tool, commands: await commands() });
      return await engine.run({ ...command, argv }, options);
    } catch (error) {
      if (refusal === 'answered' && error instanceof PolyError) return refused(error);
      throw error;
    }
  };
  const runChain = async (
    chain: readonly Command[],
    options?: Parameters<Engine['runChain']>[1],
  ): Promise<readonly Reply[]> => {
    if ((await hasToLook()).length === 0) return engine.runChain(chain, options);
    const replies: Reply[] = [];
    for (const command of chain) {
      const stopped = replies.some(({ status }) => status !== 'complete');
      replies.push(stopped ? { status: 'skipped', stdout: '', stderr: '' } : await run(command, options));
    }
    return replies;
  };
  return {
    ...{ name: engine.name, ordered: engine.ordered && isUnwatched, run, runChain },
    version: () => engine.version(),
    close: async () => undefined,
  };
}

function refused({ info: { code, message, hint } }: PolyError): Reply {
  return { status: 'failed', stdout: '', stderr: [`${code}: ${message}`, hint].filter(Boolean).join(' ') };
}
