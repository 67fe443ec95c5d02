import type { Backend, Meta, PaneInfo, PaneStatus } from '@polyphony/protocol';

/** Everything the hub knows about a pane. The host keeps a copy beside the bytes, so that neither can lose the other. */
export interface PaneRecord {
  readonly id: string;
  readonly backend: Backend;
  readonly title: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** What the creator added to the environment; kept only where it is needed again. */
  readonly env: Readonly<Record<string, string>>;
  /** What it is given whenever it starts, whatever else is added; nothing secret. */
  readonly fixedEnv?: Readonly<Record<string, string>>;
  /** It is given secrets: nothing that it prints is written to the disk. */
  readonly secretive?: boolean;
  readonly meta: Meta;
  readonly persist: boolean;
  readonly notifyOnExit: boolean;
  /** Its screen is drawn from the start, whether somebody looks or not. */
  readonly drawn: boolean;
  readonly cols: number;
  readonly rows: number;
  readonly status: PaneStatus;
  readonly pid: number;
  /** Tells its first process from another of the same number. */
  readonly startTime: string | null;
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
  /** Somebody has closed it while it ran. */
  readonly killed?: boolean;
  readonly createdAt: number;
  /** Digest of the credential of the pane that asked for this one. */
  readonly createdBy: string | null;
  /** Digest of the credential of the first of the panes that led to it; none for that pane itself. */
  readonly family?: string | undefined;
  /** Digest of the credential it was born with. */
  readonly tokenHash: string;
  /** Where tmux has it. */
  readonly tmuxPane: string | null;
}

/** Tells a pane from others that had its id before, or have it after. */
export type Birth = Pick<PaneRecord, 'id' | 'tokenHash'>;

/** What a pane has when nobody says otherwise. */
export const defaultSize: { readonly cols: number; readonly rows: number } = { cols: 120, rows: 40 };

export interface Ending {
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
}

/** What the family of a pane is called. */
export function familyOf({ family, tokenHash }: Pick<PaneRecord, 'family' | 'tokenHash'>): string {
  return family ?? tokenHash;
}

/** With whom a pane shares: what panes have started by family, what the user has started with each other in memory. */
export function sharesOf(record: Pick<PaneRecord, 'family' | 'tokenHash' | 'createdBy'>): {
  readonly family: string;
  readonly memoryFamily?: string;
} {
  const family = familyOf(record);
  return { family, ...(record.createdBy !== null && { memoryFamily: family }) };
}

/** The copy the host keeps; of what is very long only what it takes to know the pane again. */
export function noteOf(record: Omit<PaneRecord, 'pid' | 'startTime' | 'tmuxPane'>): string {
  const note = JSON.stringify(record);
  return note.length < longestNote
    ? note
    : JSON.stringify({ ...record, argv: record.argv.slice(0, 1), env: {}, meta: {} });
}

const longestNote = 60_000;

export function paneInfo(record: PaneRecord, lines: number | undefined): PaneInfo {
  const { id, meta, backend, title, argv, cwd, status, pid, exitCode, exitSignal, createdAt } = record;
  return {
    id,
    meta,
    backend,
    title,
    argv,
    cwd,
    status,
    pid,
    ...(lines !== undefined && { lines }),
    ...(status === 'exited' && { exitCode, exitSignal }),
    createdAt: new Date(createdAt).toISOString(),
  };
}
