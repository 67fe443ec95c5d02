import { type Door, refused, uncertain } from '../door.ts';

/** How a program that was started for a moment ended. */
export interface Ran {
  /** Nothing when it was ended because it took too long. */
  readonly code: number | undefined;
  readonly output: string;
}

/** Starts a program in a target's folder with the environment of its pane; throws when it cannot be started. */
export type RunBeside = (
  pid: number,
  argv: readonly string[],
  options: { readonly cwd: string; readonly timeoutMs: number },
) => Promise<Ran>;

const timeoutMs = 20_000;

/**
 * Codex's own queue: `codex queue` leaves the line in its home, and the terminal takes it as a turn of its own. It
 * takes the same line twice, so that one that was given to it is never given again.
 */
export function createCodexQueueDoor(run: RunBeside): Door {
  return {
    name: 'codex queue',
    repeatable: false,
    async offer({ argv, pid, cwd, sessionId, interrupted }, { text }, begin) {
      const [program = ''] = argv;
      if (sessionId === undefined)
        return refused('no_session: its conversation is not known before its first turn');
      // Codex 0.166.0 leaves its queue alone after that, until somebody begins another turn.
      if (interrupted) return refused('interrupted: its queue waits for its next turn');
      if (argv.includes('--remote')) return refused('its conversation lives in another process');
      if (!(await begin())) return refused('nobody wants it any more');
      try {
        const words = [program, 'queue', '--thread', sessionId, '--message', text];
        const { code, output } = await run(pid, words, { cwd, timeoutMs });
        if (code === 0) return { state: 'written', reason: 'codex has it in its queue' };
        if (code === undefined) return uncertain(`codex queue did not end within ${timeoutMs / 1000} s`);
        if (/no rollout/i.test(output)) return refused('no_session: its conversation has had no turn yet');
        return refused(`codex_queue_failed: codex queue ended with ${code}`);
      } catch (error) {
        return refused(
          `codex_queue_failed: it cannot be started (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
        );
      }
    },
  };
}
