import type { EventLog } from '../events/event-log.ts';
import type { Log } from '../platform/log.ts';

/** What is started, ended or changed for good; every call of these leaves a line that nothing but the user deletes. */
const audited =
  /^(pane:(new|close|restart|prune)|agent:create|shell:run|approval:resolve|session:|extensions:|server:)/;

/** Who asked for what and how it ended, in a file of its own beside the log. */
export function auditActions(events: EventLog, audit: Log): void {
  events.listen((batch) => {
    for (const { event, payload, source, pane, seq } of batch) {
      if (event !== 'action:success' && event !== 'action:error') continue;
      const { actionName, params } = payload as { readonly actionName: string; readonly params: unknown };
      if (audited.test(actionName))
        audit.info(actionName, { by: source, pane, ok: event === 'action:success', params, seq });
    }
  });
}
