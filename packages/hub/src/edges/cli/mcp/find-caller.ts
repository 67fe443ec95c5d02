import { readFileSync, statSync } from 'node:fs';
import type { Env } from '../env.ts';

/** Which tmux server and pane an agent runs in, in the words of tmux: `TMUX` and `TMUX_PANE`. */
export interface InTmux {
  readonly tmux?: string;
  readonly tmuxPane?: string;
}

const mostParents = 32;
/** The only variables that are read of other processes. */
const read = ['TMUX', 'TMUX_PANE', 'POLY_PANE'] as const;

/**
 * Where the agent runs that has started this process: its own variables say it, or those its user has set, or, as many
 * agents give their tools a clean environment, those of the processes it descends from.
 */
export function findTmux(env: Env, parents: () => Iterable<Env> = parentEnvironments): InTmux {
  let part: InTmux = {};
  for (const found of places(env, parents)) {
    if (found.tmux && found.tmuxPane) return found;
    if (!part.tmux && !part.tmuxPane) part = found;
  }
  return part;
}

function* places(env: Env, parents: () => Iterable<Env>): Generator<InTmux> {
  yield placeOf(env.TMUX, env.TMUX_PANE);
  yield placeOf(env.POLY_MCP_CALLER_TMUX, env.POLY_MCP_CALLER_PANE);
  for (const { TMUX, TMUX_PANE } of parents()) yield placeOf(TMUX, TMUX_PANE);
}

/** Which pane of the hub the agent runs in that was not told so: nothing proves it, and it is spared all the same. */
export function findPane(env: Env, parents: () => Iterable<Env> = parentEnvironments): string | undefined {
  if (env.POLY_TOKEN) return undefined;
  for (const { POLY_PANE } of parents()) if (POLY_PANE) return POLY_PANE;
  return undefined;
}

const placeOf = (tmux: string | undefined, tmuxPane: string | undefined): InTmux => ({
  ...(tmux && { tmux }),
  ...(tmuxPane && { tmuxPane }),
});

/** Of the processes above this one, as far as they are the same user's. */
function* parentEnvironments(): Generator<Env> {
  let pid = process.ppid;
  for (let steps = 0; steps < mostParents && pid > 1; steps++) {
    try {
      if (statSync(`/proc/${pid}`).uid !== process.getuid?.()) return;
      const environment = `\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}`;
      yield Object.fromEntries(
        read.map((name) => [name, new RegExp(`\0${name}=([^\0]*)`).exec(environment)?.[1]]),
      );
      // Behind the name of the program, which may hold anything: its state, then its parent.
      pid = Number(/.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? 0);
    } catch {
      return; // No /proc, as on macOS, or a process that has ended or is guarded: nothing more can be known.
    }
  }
}
