import type { EventLog } from '../events/event-log.ts';
import type { Log } from '../platform/log.ts';

/** What starts, ends or changes something for good: every call of these leaves a line. */
const audited = new RegExp(
  `^(${[
    'pane:(new|close|close-all|restart|prune)',
    'agent:(create|resume|adopt|release)',
    'shell:run',
    'approval:resolve',
    '(session|extensions|server|person):[a-z-]+',
    'floor:(agent|knowledge)-[a-z-]+',
    '(floor|project):(archive|delete|retention)',
  ].join('|')})$`,
);

/** Panes are also started and ended by nobody's call: by the hub for an agent, after a reboot, or by their program. */
const lives: ReadonlySet<string> = new Set(['pane:created', 'pane:exited']);

/** Who asked for what and how it ended, in a file of its own beside the log. */
export function auditActions(events: EventLog, audit: Log): void {
  events.listen((batch) => {
    for (const { event, payload, source, pane, seq } of batch) {
      if (lives.has(event)) {
        const { paneId, exitCode, exitSignal } = payload as Readonly<Record<string, unknown>>;
        audit.info(event, { by: source, pane, paneId, exitCode, exitSignal, seq });
      }
      if (event !== 'action:success' && event !== 'action:error') continue;
      const { actionName, params } = payload as { readonly actionName: string; readonly params: unknown };
      if (audited.test(actionName))
        audit.info(actionName, { by: source, pane, ok: event === 'action:success', params, seq });
    }
  });
}
