import { PolyError } from '@polyphony/protocol';

type Given = Readonly<Record<string, unknown>>;

const isAimedAt = (pane: string, { paneId }: Given): boolean => paneId === pane;

/** Which actions end the program of a pane, or may. */
const ends: Readonly<Record<string, (pane: string, given: Given) => boolean>> = {
  'pane:close': isAimedAt,
  'pane:restart': isAimedAt,
  'pane:close-all': () => true,
  'session:stop': () => true,
  'server:stop': (_, { all }) => all === true,
};

/** Refuses an agent what would end the pane it runs in: one that has ended itself can neither say so nor be asked. */
export function sparePane(pane: string | undefined, action: string, given: unknown): void {
  if (pane === undefined || !ends[action]?.(pane, (given ?? {}) as Given)) return;
  throw new PolyError('forbidden', `that would end ${pane}, the pane you run in.`, {
    hint: 'If that is meant, ask your user to do it.',
  });
}
