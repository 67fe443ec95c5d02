import { PolyError } from '@polyphony/protocol';
import type { HostRunner } from '@polyphony/tmux';
import { typingRule } from './typing-rule.ts';
import type { Use } from './use.ts';

/** Carries out what a plan does outside of tmux; its scripts get the environment of the client. */
export const hostStepOf =
  (use: Use, tool: string): HostRunner =>
  async (step, host) => {
    const { runHostStep } = use.tmux;
    if (step.type !== 'script') return runHostStep(step, host);
    // A script may do what it likes with the user's rights, but for speaking to tmux while another drives there.
    if (typingRule.suspicious.test(step.command) && !(await typingRule.isFree(use)))
      throw new PolyError(
        'forbidden',
        `${tool}: the script may type into a pane of a session that another drives.`,
        {
          hint: 'Ask for the seat: poly claim.',
        },
      );
    return runHostStep({ ...step, env: { ...use.context.place.env, ...step.env } }, host);
  };
