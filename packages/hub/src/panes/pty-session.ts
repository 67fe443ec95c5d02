import type { PtySession } from '@polyphony/protocol';
import type { PaneRecord } from './pane-record.ts';

/** A pane in the words of opencode-pty. */
export function ptySession(record: PaneRecord, lineCount: number): PtySession {
  const { id, title, meta, argv, cwd, status, killed, pid, exitCode, exitSignal, createdAt, backend } =
    record;
  const [command = '', ...args] = argv;
  return {
    id,
    title,
    description: String(meta.description ?? ''),
    command,
    args,
    workdir: cwd,
    status: status === 'exited' && killed ? 'killed' : status,
    pid,
    exitCode,
    exitSignal,
    lineCount,
    createdAt: new Date(createdAt).toISOString(),
    backend,
  };
}
