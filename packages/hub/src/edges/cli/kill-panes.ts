import { type PaneInfo, PolyError } from '@polyphony/protocol';
import type { Call } from './command.ts';
import { confirm } from './confirm.ts';
import { knownPaneId } from './panes.ts';

interface KillFlags {
  readonly all?: boolean;
  readonly yes?: boolean;
  readonly cleanup?: boolean;
}

/** Ends the panes that are named, or all that run but the one this is run in. */
export async function killPanes(call: Call & { flags: KillFlags }): Promise<number> {
  const { args, flags, hub, env, out, json } = call;
  const { all = false, cleanup = false } = flags;
  if (all === args.length > 0)
    throw new PolyError(
      'invalid_arguments',
      all ? '--all is every pane: name none.' : 'kill needs <pane…>.',
      {
        hint: all ? `To end some: poly kill ${args.join(' ')}` : 'poly ls shows them; --all ends every one.',
      },
    );
  // All of them are looked up before the first is ended.
  const ids = all
    ? await runningPanes(call)
    : await Promise.all(args.map((given) => knownPaneId(hub, given, env))).catch(sayEnded([]));
  if (all && ids.length === 0 && !json) out.note('No pane runs.');
  if (all && ids.length > 0 && !(await mayEnd(ids, call))) {
    out.note('Nothing was ended.');
    return 1;
  }
  for (const [index, paneId] of ids.entries())
    await hub.call('pane:close', { paneId, cleanup }).catch(sayEnded(ids.slice(0, index)));
  if (json) out.json(all ? { ids } : {});
  else if (all) for (const id of ids) out.line(id);
  return 0;
}

/** A failure in the middle leaves open what has happened before it, unless it says so. */
function sayEnded(ended: readonly string[]): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof PolyError)) throw error;
    const { code, message, hint = '', details } = error;
    const so = ended.length === 0 ? 'Nothing was ended.' : `Ended before that: ${ended.join(', ')}.`;
    throw new PolyError(code, message, { hint: `${so} ${hint}`.trim(), details, cause: error });
  };
}

async function runningPanes({ hub, env }: Call): Promise<readonly string[]> {
  const isMeant = ({ id, status }: PaneInfo): boolean => status === 'running' && id !== env.POLY_PANE;
  return (await hub.call('pane:list', {})).filter(isMeant).map(({ id }) => id);
}

function mayEnd(ids: readonly string[], { flags, json }: Call & { flags: KillFlags }): Promise<boolean> {
  const named = `${ids.length === 1 ? '1 pane' : `${ids.length} panes`} (${ids.join(', ')})`;
  return confirm(
    { yes: flags.yes, json },
    {
      would: `end ${named}`,
      question: `End ${named}, with everything they started?`,
      hint: 'Say --yes to end them.',
    },
  );
}
