import type { PaneBackend } from './backend.ts';
import type { HostLink } from './host-link.ts';
import { noteOf, sharesOf } from './pane-record.ts';

/** How long a program has to end after it was asked to, before it is killed. */
export const graceMs = 3_000;

/** How much of a pane's output the host keeps. */
export interface Keep {
  readonly maxLines: number;
  readonly maxBytes: number;
  /** Of all panes together. */
  readonly allBytes: number;
  /** The same in files; none are written without them. */
  readonly diskBytes?: number;
  readonly allDiskBytes?: number;
}

/** Panes whose terminals the host owns. */
export function createPtyBackend(link: HostLink, keep: Keep): PaneBackend {
  return {
    name: 'pty',
    async open({ record, env }) {
      const { id, argv, cwd, cols, rows, drawn } = record;
      const { diskBytes: _, allDiskBytes: __, ...inMemory } = keep;
      const kept = { ...(record.secretive ? inMemory : keep), ...sharesOf(record), note: noteOf(record) };
      const spec = { id, argv, cwd, env, cols, rows, screen: drawn, answers: true, ...kept };
      return { ...(await link.use((host) => host.open(spec))), tmuxPane: null };
    },
    async type({ id }, bytes) {
      await link.use((host) => host.write(id, bytes));
    },
    screen: ({ id }) => link.use((host) => host.screen(id)),
    resize: ({ id }, cols, rows) => link.use((host) => host.resize(id, cols, rows)),
    end: ({ id }) => link.use((host) => host.kill(id, { graceMs })),
    async activate() {
      // A pty has no front to be brought to.
    },
  };
}
