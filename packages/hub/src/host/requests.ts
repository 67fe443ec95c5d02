import * as z from 'zod';
import type { Page, PageQuery } from './byte-ring.ts';
import type { Pattern } from './find-lines.ts';
import { type DiskState, folderName } from './output-disk.ts';
import type { Exit, PtySpec } from './pty-driver.ts';
import type { ScreenSnapshot } from './screen.ts';
import type { SearchOutcome } from './search-threads.ts';

/** Hosts and hubs of one major version understand each other; what a minor one adds, the older refuses by name. */
export const protocol: Protocol = { major: 1, minor: 5 };

export interface Protocol {
  readonly major: number;
  readonly minor: number;
}

interface Hello {
  readonly protocol: Protocol;
  /** Of the program, for people. */
  readonly version: string;
  readonly pid: number;
}

export interface HostHello extends Hello {
  readonly startTime: string;
}

/** How much of a pane's output is kept, and what the hub wants to find beside it after a loss. */
interface Keep {
  readonly note?: string | undefined;
  readonly maxBytes?: number | undefined;
  readonly maxLines?: number | undefined;
  /** Of all panes together, from now on. */
  readonly allBytes?: number | undefined;
  /** How much of it is kept in files too, and of all panes together; without the first nothing is. */
  readonly diskBytes?: number | undefined;
  readonly allDiskBytes?: number | undefined;
  /** With whom it shares what all may have on the disk; without it with nobody. */
  readonly family?: string | undefined;
  /** With whom it shares what all may have in memory; without it with all who do not say either. */
  readonly memoryFamily?: string | undefined;
}

/** Output in files, which outlives the host. */
export interface HostDisk extends DiskState {
  /** The panes of hosts before this one whose output is still there. */
  readonly remains: readonly { readonly id: string; readonly lines?: number | undefined }[];
}

export interface OpenSpec extends PtySpec, Keep {
  readonly id: string;
  /** Draw its screen from the start and answer what it asks its terminal, whether somebody looks or not. */
  readonly screen?: boolean | undefined;
  /** Answer it also while nobody looks: its screen is drawn from the moment in which it asks. */
  readonly answers?: boolean | undefined;
}

export interface OpenedPane {
  readonly pid: number;
  /** Null when the program ended before anybody could look. */
  readonly startTime: string | null;
}

export interface AdoptSpec extends Keep {
  readonly id: string;
  readonly cols: number;
  readonly rows: number;
  /** Its pipe is not read before `replay` has told what tmux shows, or the hub has gone. */
  readonly held?: boolean | undefined;
}

/** What tmux shows of a pane at the moment in which its pipe begins. */
export interface Shown {
  /** What a terminal is told before them, where they do not go on with what is kept. */
  readonly begin?: string | undefined;
  /** With their colours, none of them wrapped; the cursor is at the end of the last. */
  readonly lines: readonly string[];
  /** What a terminal is told after them, to look the same. */
  readonly end: string;
}

export interface HostPane extends Exit {
  readonly id: string;
  readonly kind: 'pty' | 'pipe';
  /** Null for a pipe: that process is tmux's. */
  readonly pid: number | null;
  readonly startTime: string | null;
  readonly status: 'running' | 'exited';
  readonly cols: number;
  readonly rows: number;
  /** The oldest byte kept, and how many there have been. */
  readonly start: number;
  readonly end: number;
  readonly lines: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly note?: string | undefined;
}

export interface TreeSpec {
  readonly pid: number;
  /** Given, a process that has the number by now but began at another time is left alone. */
  readonly startTime?: string | undefined;
  readonly id: string;
  readonly graceMs?: number | undefined;
}

/** Lines that match: the last ones, the newest first; or only the first one from a place on. */
export interface SearchQuery extends Pattern {
  /** At most so many. */
  readonly limit?: number | undefined;
  /** Only in lines before this one. */
  readonly before?: number | undefined;
  /** Only in what is behind this byte; the line it lies in begins there. */
  readonly from?: number | undefined;
  readonly first?: boolean | undefined;
  /** Who shares a turn; searches that do not say are those of their pane. */
  readonly share?: string | undefined;
}

type PaneParams = { readonly id: string };
type Nothing = Record<string, never>;

/** Every request there is. The bytes of `write`, the lines of `replay` and what `read` answers travel beside it, in the frame's body. */
interface Requests {
  hello: { params: Hello; result: HostHello };
  open: { params: OpenSpec; result: OpenedPane };
  adopt: { params: AdoptSpec; result: { readonly fifo: string } };
  replay: { params: PaneParams & Omit<Shown, 'lines'>; result: Nothing };
  finish: { params: PaneParams & Exit; result: Nothing };
  write: { params: PaneParams; result: { readonly written: number } };
  resize: { params: PaneParams & { readonly cols: number; readonly rows: number }; result: Nothing };
  kill: { params: PaneParams & { readonly graceMs?: number | undefined }; result: Exit };
  killTree: { params: TreeSpec; result: Nothing };
  read: { params: PaneParams & PageQuery; result: Omit<Page, 'bytes'> };
  search: { params: PaneParams & SearchQuery; result: SearchOutcome };
  screen: { params: PaneParams; result: ScreenSnapshot };
  list: { params: Nothing; result: { readonly panes: readonly HostPane[] } };
  disk: { params: Nothing; result: HostDisk };
  forget: { params: PaneParams; result: Nothing };
  follow: { params: PaneParams & Following; result: Nothing };
  stop: { params: { readonly killPanes: boolean }; result: Nothing };
}

interface Following {
  /** The hub's own number for it, unused so far on this connection. */
  readonly follower: number;
  readonly from: number;
  /** How many bytes may be sent before the hub allows more. */
  readonly credit: number;
}

export type RequestName = keyof Requests;
export type Params<Name extends RequestName> = Requests[Name]['params'];
export type Result<Name extends RequestName> = Requests[Name]['result'];

/** What the host says unasked. */
export type HostEvent =
  | ({
      readonly event: 'exit';
      readonly id: string;
      /** Of the program that has ended: its pane may be another by now. Null for a pipe; older hosts do not tell. */
      readonly pid?: number | null | undefined;
    } & Exit)
  | { readonly event: 'output'; readonly follower: number; readonly offset: number }
  | { readonly event: 'gap'; readonly follower: number; readonly lostFrom: number; readonly lostTo: number }
  | { readonly event: 'finished'; readonly follower: number };

/** What a hub says without waiting for an answer. */
export type HubNotice =
  | { readonly notice: 'credit'; readonly follower: number; readonly bytes: number }
  | { readonly notice: 'unfollow'; readonly follower: number };

const count = z.int().min(0);
const size = z.int().min(1).max(1000);
const text = z.string().refine((value) => !value.includes('\0'), 'must not contain NUL');
const id = text.min(1).max(200);
const longestPattern = 4096;
const graceMs = z.int().min(0).max(600_000).optional();
const megabyte = 1024 * 1024;
const bytes = z.int().min(megabyte / 4);
const keep = {
  note: z
    .string()
    .max(64 * 1024)
    .optional(),
  maxBytes: bytes.max(1024 * megabyte).optional(),
  allBytes: bytes.optional(),
  maxLines: z.int().min(1).max(100_000_000).optional(),
  diskBytes: bytes.optional(),
  allDiskBytes: bytes.optional(),
  family: z.string().optional(),
  memoryFamily: z.string().optional(),
};
/** The id names a folder. */
const isFolder = ({
  id,
  diskBytes,
}: {
  readonly id: string;
  readonly diskBytes?: number | undefined;
}): boolean => diskBytes === undefined || folderName.test(id);
const noFolder =
  'the id of a pane that is kept on the disk must be a name of at most 64 letters, digits, ".", "_" or "-"';
const exit = { exitCode: z.int().nullable(), exitSignal: z.string().nullable() };
const nothing = z.object({});
const hello = {
  protocol: z.object({ major: count, minor: count }),
  version: z.string(),
  pid: count,
};
const page = { from: count, next: count, retainedFrom: count, firstLine: count, end: count };

type Schemas = {
  readonly [Name in RequestName]: {
    readonly params: z.ZodType<Params<Name>>;
    readonly result: z.ZodType<Result<Name>>;
  };
};

export const requests: Schemas = {
  hello: { params: z.object(hello), result: z.object({ ...hello, startTime: z.string() }) },
  open: {
    params: z
      .object({
        id,
        argv: z.array(text).min(1),
        cwd: text.refine((path) => path.startsWith('/'), 'must be an absolute path'),
        env: z.record(z.string().regex(/^[^=\0]+$/, 'must be a name'), text),
        cols: size,
        rows: size,
        screen: z.boolean().optional(),
        answers: z.boolean().optional(),
        ...keep,
      })
      .refine(isFolder, noFolder),
    result: z.object({ pid: count, startTime: z.string().nullable() }),
  },
  adopt: {
    params: z
      .object({ id, cols: size, rows: size, held: z.boolean().optional(), ...keep })
      .refine(isFolder, noFolder),
    result: z.object({ fifo: z.string() }),
  },
  replay: { params: z.object({ id, begin: z.string().optional(), end: z.string() }), result: nothing },
  finish: { params: z.object({ id, ...exit }), result: nothing },
  write: { params: z.object({ id }), result: z.object({ written: count }) },
  resize: { params: z.object({ id, cols: size, rows: size }), result: nothing },
  kill: { params: z.object({ id, graceMs }), result: z.object(exit) },
  killTree: {
    params: z.object({ pid: z.int().min(2), startTime: z.string().optional(), id, graceMs }),
    result: nothing,
  },
  read: {
    params: z
      .object({
        id,
        tail: count.optional(),
        since: count.optional(),
        fromLine: count.optional(),
        limit: count.optional(),
        maxBytes: z.int().min(4).optional(),
      })
      .refine(
        ({ tail, since, fromLine }) =>
          [tail, since, fromLine].filter((place) => place !== undefined).length < 2,
        'give one of tail, since and fromLine',
      ),
    result: z.object({ ...page, more: z.boolean(), truncated: z.boolean(), softBreaks: z.array(count) }),
  },
  search: {
    params: z.object({
      id,
      pattern: z.string().min(1).max(longestPattern),
      literal: z.boolean().optional(),
      ignoreCase: z.boolean().optional(),
      limit: z.int().min(1).optional(),
      before: count.optional(),
      from: count.optional(),
      first: z.boolean().optional(),
      share: z.string().max(200).optional(),
    }),
    result: z.object({
      matches: z.array(z.object({ line: count, text: z.string(), offset: count })),
      more: z.boolean(),
      complete: z.boolean(),
      next: count,
    }),
  },
  screen: {
    params: z.object({ id }),
    result: z.object({
      cols: count,
      rows: count,
      lines: z.array(z.string()),
      cursor: z.object({ x: count, y: count, visible: z.boolean() }),
      title: z.string(),
      alternate: z.boolean(),
      bracketedPaste: z.boolean(),
      applicationCursor: z.boolean(),
      resynced: z.boolean(),
    }),
  },
  list: {
    params: nothing,
    result: z.object({
      panes: z.array(
        z.object({
          id,
          kind: z.enum(['pty', 'pipe']),
          pid: count.nullable(),
          startTime: z.string().nullable(),
          status: z.enum(['running', 'exited']),
          ...exit,
          cols: count,
          rows: count,
          start: count,
          end: count,
          lines: count,
          createdAt: z.number(),
          note: z.string().optional(),
        }),
      ),
    }),
  },
  disk: {
    params: nothing,
    result: z.object({
      bytes: count,
      lost: count,
      problem: z.string().nullable(),
      remains: z.array(z.object({ id, lines: count.optional() })),
    }),
  },
  forget: { params: z.object({ id }), result: nothing },
  follow: { params: z.object({ id, follower: count, from: count, credit: count }), result: nothing },
  stop: { params: z.object({ killPanes: z.boolean() }), result: nothing },
};

export const hubNotice: z.ZodType<HubNotice> = z.discriminatedUnion('notice', [
  z.object({ notice: z.literal('credit'), follower: count, bytes: count }),
  z.object({ notice: z.literal('unfollow'), follower: count }),
]);

export const hostEvent: z.ZodType<HostEvent> = z.discriminatedUnion('event', [
  z.object({ event: z.literal('exit'), id, pid: z.int().nullish(), ...exit }),
  z.object({ event: z.literal('output'), follower: count, offset: count }),
  z.object({ event: z.literal('gap'), follower: count, lostFrom: count, lostTo: count }),
  z.object({ event: z.literal('finished'), follower: count }),
]);
