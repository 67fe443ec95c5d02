import type { PaneId } from '@polyphony/tmux';
import type { Use } from './use.ts';

interface Part {
  readonly start?: number | '-' | undefined;
  readonly end?: number | '-' | undefined;
  readonly joinWrapped?: boolean | undefined;
  readonly trimTrailing?: boolean | undefined;
}

/** The lines of a pane, without the empty ones below the last. */
export async function capture(
  { run, tmux }: Pick<Use, 'run' | 'tmux'>,
  paneId: PaneId,
  part: Part = {},
): Promise<readonly string[]> {
  const { lines } = await run(tmux.capturePane({ target: paneId, ...part }));
  return lines.slice(0, lines.findLastIndex((line) => line.trim() !== '') + 1);
}
