import { setTimeout as sleep } from 'node:timers/promises';
import { PolyError } from '@polyphony/protocol';
import type { Call } from './command.ts';
import { fullPaneId } from './panes.ts';

const followEveryMs = 200;

interface Following {
  readonly paneId: string;
  readonly grep?: string;
  readonly tail?: number;
  readonly since?: number;
  readonly raw?: boolean;
}

/** Prints what a pane prints, a line that grows as it grows, until the pane ends. */
export async function followOutput(
  { hub, out, json }: Call,
  { paneId, grep, tail, since, raw }: Following,
): Promise<void> {
  if (grep !== undefined || json)
    throw new PolyError(
      'invalid_arguments',
      `--follow prints what comes as it comes: leave ${json ? '--json' : '--grep'} out.`,
      {
        hint: json ? 'poly events --json tells when a pane ends.' : 'Pipe it: poly read build -f | grep …',
      },
    );
  const id = await fullPaneId(hub, paneId);
  let range: object = { ...(since !== undefined && { since }), ...(tail !== undefined && { tail }) };
  let line: number | undefined;
  for (;;) {
    // Looked for before it is read, so that a pane that has ended has said all.
    const known = (await hub.call('pane:list', {})).find((pane) => pane.id === id);
    const view = raw ? 'raw' : 'plain';
    const page = await hub.call('pane:read', { paneId: id, ...range, view });
    for (const { n, text } of page.lines ?? []) {
      out.bytes(n === line || line === undefined ? text : `\n${text}`);
      line = n;
    }
    // A line is ended as soon as it has its end, for whoever reads line by line.
    if (page.lines?.length && !page.partial) {
      out.line();
      line = undefined;
    }
    out.bytes(Buffer.from(page.data ?? '', 'base64'));
    range = { since: page.next };
    if (known?.status !== 'running' && !page.more) break;
    if (!page.more) await sleep(followEveryMs);
  }
  if (line !== undefined) out.line();
}
