import type { BlockedOn, PaneScreen, ScreenStatus } from '@polyphony/protocol';
import type { Place, ScreenTable } from './screens/screen-table.ts';

export interface Reading {
  readonly status: ScreenStatus;
  /** Where the status was read, and the words that told it. */
  readonly evidence: string;
  /** There when the agent takes text. A draft, also of a shell command (`!…`), is somebody else's: leave it alone. */
  readonly composer?: { readonly draft: string };
  readonly blockedOn?: BlockedOn;
  /** Whether a message waits for the end of a turn. */
  readonly queued?: boolean;
  /** The file of rules that told it. */
  readonly rules?: string;
}

export const unknown: Reading = { status: 'unknown', evidence: 'nothing on the screen that tells' };

function readDraft({ margin, placeholder }: ScreenTable, draft: string, shell: boolean): string {
  const text = draft
    .split('\n')
    .map((line) => (margin ? line.replace(margin, '') : line))
    .join('\n')
    .trim();
  if (shell) return `!${text}`;
  return placeholder?.test(text) ? '' : text;
}

/** What one table says to a screen; undefined where it knows nothing of it. */
export function readTable(table: ScreenTable, screen: PaneScreen): Reading | undefined {
  const text = screen.lines
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd();
  const title = screen.title.trim();
  const found = table.composer?.exec(text)?.groups;
  const { above = '', draft = '', footer = '', shell } = found ?? {};
  const around = found && { above, footer, 'title and footer': `${title}\n${footer}` };
  const places: Partial<Readonly<Record<Place, string>>> = { title, screen: text, ...around };

  const typing = found && {
    composer: { draft: readDraft(table, draft, shell !== undefined) },
    ...(table.queued?.test(above) && { queued: true }),
  };

  for (const { in: place, pattern, status, blockedOn } of table.signs) {
    const match = pattern.exec(places[place] ?? '');
    if (match === null || places[place] === undefined) continue;
    const words = match[0].trim().split('\n', 1).join('').slice(0, 80);
    const told = { status, evidence: `${place}: ${words}` };
    return status === 'blocked' ? { ...told, ...(blockedOn && { blockedOn }) } : { ...told, ...typing };
  }
  return typing && { ...unknown, ...typing };
}
