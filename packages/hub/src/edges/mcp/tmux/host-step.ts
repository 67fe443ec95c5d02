import { PolyError } from '@polyphony/protocol';
import type { HostRunner } from '@polyphony/tmux';
import { endingRule } from './ending-rule.ts';
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
    if (endsByTmux(step.command) && !(await endingRule.isFree(use)))
      throw new PolyError('forbidden', `${tool}: the script may end the pane you run in.`, {
        hint: 'End other things with kill_pane, kill_window or kill_session, or ask your user to do it.',
      });
    return runHostStep({ ...step, env: { ...use.context.place.env, ...step.env } }, host);
  };

/** Other programs may be killed: only what is said to tmux can end a pane by its name. */
const endsByTmux = (command: string): boolean =>
  /\btmux\b/.test(command) && endingRule.suspicious.test(command);
