import type { PaneId } from '@polyphony/tmux';
import type { Use } from './use.ts';

interface Part {
  readonly start?: number | '-' | undefined;
  readonly end?: number | '-' | undefined;
  readonly joinWrapped?: boolean | undefined;
  readonly trimTrailing?: boolean | undefined;
}

/** The lines of a pane, without the empty ones below the last; before 3.4 tmux cannot trim them itself. */
export async function capture(
  { run, tmux, bare }: Pick<Use, 'run' | 'tmux' | 'bare'>,
  paneId: PaneId,
  { trimTrailing = false, ...part }: Part = {},
): Promise<readonly string[]> {
  const trims = trimTrailing && tmux.atLeast(await bare.version(), '3.4');
  const { lines } = await run(tmux.capturePane({ target: paneId, ...part, trimTrailing: trims }));
  const shown = lines.slice(0, lines.findLastIndex((line) => line.trim() !== '') + 1);
  return trimTrailing && !trims ? shown.map((line) => line.trimEnd()) : shown;
}
