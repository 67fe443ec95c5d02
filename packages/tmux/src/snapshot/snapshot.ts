import * as z from 'zod';
import { readGiven } from '../operation/given.ts';
import {
  type PaneId,
  paneIdSchema,
  type SessionId,
  sessionIdSchema,
  type WindowId,
  windowIdSchema,
} from '../operation/target.ts';
import type { ClientRow, PaneRow } from '../operations/index.ts';

export interface PaneSnapshot
  extends Pick<
    PaneRow,
    | 'active' | 'width' | 'height' | 'left' | 'top' | 'floating' | 'title' | 'currentCommand' | 'currentPath' | 'startCommand'
    | 'pid' | 'tty' | 'dead' | 'deadStatus' | 'deadSignal' | 'inMode' | 'pipe' | 'synchronized' | 'alternateOn'
    | 'historySize' | 'cursorX' | 'cursorY'
  > {
  readonly id: PaneId;
  readonly index: number;
} // biome-ignore format: a list

/**
 * A window as one session shows it. Linked into several sessions, it stands in each of them with the same id and
 * its own index and `active` there.
 */
export interface WindowSnapshot {
  readonly id: WindowId;
  readonly index: number;
  readonly name: string;
  readonly active: boolean;
  readonly flags: string;
  readonly linked: boolean;
  readonly zoomed: boolean;
  readonly width: number;
  readonly height: number;
  readonly layout: string;
  readonly visibleLayout: string;
  readonly panes: readonly PaneSnapshot[];
}

export interface SessionSnapshot {
  readonly id: SessionId;
  readonly name: string;
  /** How many clients are attached. */
  readonly attached: number;
  /** Sessions of one group show the same windows; empty for none. */
  readonly group: string;
  readonly created: number;
  readonly windows: readonly WindowSnapshot[];
}

export interface ClientSnapshot extends ClientRow {}

/** A whole server at one moment, as plain data: it goes through JSON unchanged. */
export interface ServerSnapshot {
  readonly sessions: readonly SessionSnapshot[];
  readonly clients: readonly ClientSnapshot[];
}

const pane = z.strictObject({
  id: paneIdSchema, index: z.int(), active: z.boolean(), width: z.int(), height: z.int(), left: z.int(), top: z.int(),
  floating: z.boolean(), title: z.string(), currentCommand: z.string(), currentPath: z.string(), startCommand: z.string(),
  pid: z.int().nullable(), tty: z.string(), dead: z.boolean(), deadStatus: z.int().nullable(), deadSignal: z.int().nullable(),
  inMode: z.boolean(), pipe: z.boolean(), synchronized: z.boolean(), alternateOn: z.boolean(),
  historySize: z.int(), cursorX: z.int(), cursorY: z.int(),
}); // biome-ignore format: a table
const window = z.strictObject({
  id: windowIdSchema, index: z.int(), name: z.string(), active: z.boolean(), flags: z.string(), linked: z.boolean(),
  zoomed: z.boolean(), width: z.int(), height: z.int(), layout: z.string(), visibleLayout: z.string(), panes: z.array(pane).readonly(),
}); // biome-ignore format: a table
const session = z.strictObject({
  id: sessionIdSchema, name: z.string(), attached: z.int(), group: z.string(), created: z.int(), windows: z.array(window).readonly(),
}); // biome-ignore format: a table
const client = z.strictObject({
  name: z.string(), tty: z.string(), pid: z.int(), sessionId: sessionIdSchema, sessionName: z.string(), width: z.int(), height: z.int(),
  terminal: z.string(), flags: z.string(), controlMode: z.boolean(), readOnly: z.boolean(), utf8: z.boolean(),
  created: z.int(), activity: z.int(),
}); // biome-ignore format: a table

export const snapshotSchema: z.ZodType<ServerSnapshot> = z.strictObject({
  sessions: z.array(session).readonly(),
  clients: z.array(client).readonly(),
});

/**
 * A snapshot from its JSON, validated.
 *
 * @example snapshotFromJSON(JSON.parse(JSON.stringify(await server.snapshot())))
 */
export function snapshotFromJSON(json: unknown): ServerSnapshot {
  return readGiven(snapshotSchema, json, 'This is not a snapshot');
}

/**
 * Every pane once, however many sessions show its window.
 *
 * @example panesOf(await server.snapshot()).map(({ id, currentCommand }) => [id, currentCommand])
 */
export function panesOf(snapshot: ServerSnapshot): readonly PaneSnapshot[] {
  return [
    ...new Map(
      snapshot.sessions.flatMap((s) => s.windows.flatMap((w) => w.panes.map((p) => [p.id, p]))),
    ).values(),
  ];
}
