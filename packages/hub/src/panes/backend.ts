import type { Backend, PaneScreen } from '@polyphony/protocol';
import type { Ending, PaneRecord } from './pane-record.ts';

interface OpenPane {
  /** What is known before it runs. */
  readonly record: Omit<PaneRecord, 'pid' | 'startTime' | 'tmuxPane'>;
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>;
}

export interface OpenedPane {
  readonly pid: number;
  readonly startTime: string | null;
  readonly tmuxPane: string | null;
}

/** A screen, and how its program wants to be typed to. */
interface BackendScreen extends PaneScreen {
  /** Arrows, Home and End are to be sent in the form of an application. */
  readonly applicationCursor: boolean;
}

/** Where panes run. Output of either kind is read from the host; this is what differs. */
export interface PaneBackend {
  readonly name: Backend;
  open(pane: OpenPane): Promise<OpenedPane>;
  /** Types bytes exactly as they are. */
  type(record: PaneRecord, bytes: Buffer): Promise<void>;
  screen(record: PaneRecord): Promise<BackendScreen>;
  resize(record: PaneRecord, cols: number, rows: number): Promise<void>;
  /** Ends the program and everything it started; answers when all of it is dead, with how it ended if that is known. */
  end(record: PaneRecord): Promise<Ending | undefined>;
  /** Brings it to the front, where there is one. */
  activate(record: PaneRecord): Promise<void>;
}
