import { performance } from 'node:perf_hooks';
import type { ServerStatus } from '@polyphony/protocol';
import type { ScreenRules } from '../agents/screens/screen-rules.ts';
import type { Approvals } from '../approvals/approvals.ts';
import type { Intake } from '../capture/intake.ts';
import type { Mail } from '../mail/mail.ts';
import type { Panes } from '../panes/panes.ts';
import type { TmuxSession } from '../panes/tmux-session.ts';
import type { Config } from '../platform/config.ts';
import type { Places } from '../platform/places.ts';
import { processGauges } from '../platform/process-gauges.ts';
import type { Opened } from '../store/prepare.ts';
import type { Store } from '../store/store.ts';

interface Watched {
  readonly store: Pick<Store, 'gauges'> & { readonly opened: Opened };
  readonly panes: Panes;
  readonly approvals: Approvals;
  readonly session: TmuxSession;
  readonly intake: Intake;
  readonly mail: Mail;
  readonly config: Config;
  readonly rules: ScreenRules;
  readonly places: Places;
  readonly about: Pick<ServerStatus, 'version' | 'pid' | 'startedAt' | 'socket' | 'path'>;
  readonly url: () => string | null;
  /** How many follow what happens. */
  readonly readers: () => Readonly<Record<'eventReaders' | 'floorReaders', number>>;
  readonly extensionProblems: () => readonly string[];
}

/** How the hub is: what it has, what it uses of what it is given, and what is wrong. */
export function statusOf(watched: Watched): () => Promise<ServerStatus> {
  const { store, panes, approvals, session, intake, mail, config, rules, places, about } = watched;
  return async () => {
    const disk = await panes.disk();
    const url = watched.url();
    const { rss, heapUsed } = process.memoryUsage();
    return {
      ...about,
      ...(url !== null && { url }),
      panes: panes.book.list().length,
      approvals: approvals.list().length,
      session: await session.usable(),
      ...(session.trouble && { sessionTrouble: session.trouble }),
      gauges: {
        ...numbersIn(store.gauges()),
        ...{ rss, heapUsed, ...watched.readers() },
        ...(await processesOf(panes)),
        ...intake.gauges,
        ...(disk && { outputDiskBytes: disk.bytes, outputNotOnDisk: disk.lost }),
      },
      problems: [
        ...lossOf(store.opened),
        ...config.problems,
        ...rules.problems,
        ...watched.extensionProblems(),
        ...(intake.problem ? [`what agents did cannot be taken in: ${intake.problem}`] : []),
        ...(mail.retention.problem ? [`old mail cannot be forgotten: ${mail.retention.problem}`] : []),
        ...(disk?.problem ? [`what panes print cannot be kept in ${places.panes}: ${disk.problem}`] : []),
      ],
    };
  };
}

/** What a record that had to be restored has lost. */
function lossOf(opened: Opened): readonly string[] {
  if (opened.state !== 'restored') return [];
  const { why, restoredFrom, aside, lossWindow } = opened;
  const [from, until] = [lossWindow.from, lossWindow.until].map((at) => new Date(at).toISOString());
  return [
    `the record was restored from ${restoredFrom}: ${why} What was written from ${from} to ${until} is lost${aside === undefined ? '.' : `; what was there is in ${aside}`}`,
  ];
}

async function processesOf(panes: Panes): Promise<Readonly<Record<string, number>>> {
  const [own, host] = [processGauges(process.pid), await panes.hostGauges()];
  const isPty = ({ backend, status }: { backend: string; status: string }): boolean =>
    backend === 'pty' && status === 'running';
  return {
    ptys: panes.book.list().filter(isPty).length,
    loopBusyPercent: Math.round(performance.eventLoopUtilization().utilization * 100),
    ...(own && { openFiles: own.openFiles, openFilesLimit: own.openFilesLimit }),
    ...(host && { hostOpenFiles: host.openFiles, hostOpenFilesLimit: host.openFilesLimit }),
    ...((own || host) && { zombies: (own?.zombies ?? 0) + (host?.zombies ?? 0) }),
  };
}

function numbersIn(gauges: object): Record<string, number> {
  return Object.fromEntries(Object.entries(gauges).map(([name, value]) => [name, Number(value)]));
}
