import type { AgentStatus, PaneScreen } from '@polyphony/protocol';
import type { BlockedOn, Place, ScreenTable, VendorName } from './vendors/vendor.ts';
import { vendors } from './vendors/vendors.ts';

export interface Reading {
  readonly status: AgentStatus;
  /** Where the status was read, and the words that told it. */
  readonly evidence: string;
  /** There when the agent takes text. A draft, also of a shell command (`!…`), is somebody else's: leave it alone. */
  readonly composer?: { readonly draft: string };
  readonly blockedOn?: BlockedOn;
  /** Whether a message waits for the end of a turn. */
  readonly queued?: boolean;
}

const unknown: Reading = { status: 'unknown', evidence: 'nothing on the screen that tells' };

function readDraft(table: ScreenTable, draft: string, shell: boolean): string {
  const text = draft
    .split('\n')
    .map((line) => line.replace(table.margin, ''))
    .join('\n')
    .trim();
  if (shell) return `!${text}`;
  return table.placeholder.test(text) ? '' : text;
}

function readTable(table: ScreenTable, screen: PaneScreen): Reading | undefined {
  const text = screen.lines
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd();
  const title = screen.title.trim();
  const found = table.composer.exec(text)?.groups;
  const { above = '', draft = '', footer = '', shell } = found ?? {};
  const around = found && { above, footer, 'title and footer': `${title}\n${footer}` };
  const places: Partial<Readonly<Record<Place, string>>> = { title, screen: text, ...around };

  const typing = found && {
    composer: { draft: readDraft(table, draft, shell !== undefined) },
    ...(table.queued.test(above) && { queued: true }),
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

/** What an agent is doing, as far as its screen really tells; anything else is `unknown`. */
export function readScreen(vendor: VendorName, screen: PaneScreen): Reading {
  for (const table of vendors[vendor].screens) {
    const reading = readTable(table, screen);
    if (reading) return reading;
  }
  return unknown;
}
