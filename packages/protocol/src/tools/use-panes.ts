import type { Client } from '../client.ts';
import type { PaneInfo } from '../pane.ts';
import { decodeEscapes } from './decode-escapes.ts';
import { matchesAnswer, readAnswer, screenAnswer, waitedAnswer, writtenAnswer } from './pane-answers.ts';
import type { PtyParams, PtyReadParams, PtyWaitParams, PtyWriteParams } from './pane-tools.ts';

declare class TextDecoder {
  constructor(label: 'utf-8', options: { readonly fatal: boolean; readonly ignoreBOM: boolean });
  decode(bytes: Uint8Array): string;
}
declare function btoa(binary: string): string;

/** Whose panes a tool works on, and how. */
export interface PaneAccess {
  readonly client: Pick<Client, 'call'>;
  /** The pane of an id; throws when there is none here. */
  pane(id: string): Promise<PaneInfo>;
  /** How far each pane had printed when the agent last wrote or waited. */
  readonly cursors: Map<string, number>;
}

const defaultLines = 500;
const defaultWait = 60;

/** What the tools do that are the same wherever they are offered; each answers what the agent reads. */
export const usePanes: {
  pty_write(params: PtyWriteParams, access: PaneAccess): Promise<string>;
  pty_read(params: PtyReadParams, access: PaneAccess): Promise<string>;
  pty_screen(params: PtyParams, access: PaneAccess): Promise<string>;
  pty_wait(params: PtyWaitParams, access: PaneAccess): Promise<string>;
} = {
  async pty_write({ id, data }, { client, pane, cursors }) {
    await pane(id);
    const { next } = await client.call('pane:read', { paneId: id, tail: 0 });
    cursors.set(id, next);
    const { bytes } = await client.call('pane:write', { paneId: id, ...encoded(decodeEscapes(data)) });
    return writtenAnswer(id, bytes, data);
  },

  async pty_read(params, { client, pane }) {
    const { id: paneId, offset, limit = defaultLines, pattern, ignoreCase } = params;
    const known = await pane(paneId);
    if (pattern === undefined) {
      const range = offset === undefined ? { tail: limit } : { fromLine: Math.max(offset, 1), limit };
      const read = await client.call('pane:read', { paneId, ...range });
      return readAnswer(known, read, { isTail: offset === undefined });
    }
    const before = offset === undefined ? {} : { before: Math.max(offset, 1) };
    const found = await client.call('pane:search', { paneId, pattern, limit, ignoreCase, ...before });
    return matchesAnswer(known, pattern, found);
  },

  async pty_screen({ id }, { client, pane }) {
    return screenAnswer(await pane(id), await client.call('pane:screen', { paneId: id }));
  },

  async pty_wait({ id, timeout = defaultWait, ...until }, { client, pane, cursors }) {
    await pane(id);
    const waited = await client.call('pane:wait', {
      since: cursors.get(id) ?? 0,
      ...until,
      paneId: id,
      timeoutMs: Math.ceil(timeout * 1000),
    });
    cursors.set(id, waited.next);
    return waitedAnswer(id, waited);
  },
};

/** As text where it is text, so that whoever watches can read it. */
function encoded(bytes: Uint8Array): { readonly data: string; readonly encoding?: 'base64' } {
  try {
    return { data: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
    return { data: btoa(binary), encoding: 'base64' }; // It is no text.
  }
}
