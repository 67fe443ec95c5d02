import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AdoptedAgentInfo, AgentAdoptResult, FoundAgent } from '@polyphony/protocol';
import { type Command, command } from '../command.ts';
import type { Env } from '../env.ts';
import { text, toggle } from '../flag.ts';
import { type Output, shown } from '../output.ts';
import { callOnPane } from '../panes.ts';

export const adoptCommands: readonly Command[] = [
  command({
    name: 'agent adopt',
    summary: 'Finds coding agents that you have started elsewhere, and watches them from now on.',
    teaches: [
      '',
      'It looks into every tmux server of yours, and at every process outside of tmux, for claude, codex,',
      'opencode, gemini and cursor-agent. Nothing about them is changed: they are neither restarted nor',
      'attached to, and they stay where they are. From then on poly agent list, explain, message and resume,',
      'agent:state and notices know them, also after a restart of the hub. Of each it says',
      '',
      '  tells     who can say what it does: its hooks (poly hooks install), its session file (Claude Code),',
      '            its screen (in tmux), or only its process: then its state is unknown until it ends',
      '  typing    whether poly agent message reaches it: in tmux only',
      '  resume    whether its conversation is known: once it has ended, poly agent resume takes it up',
      '            again in a pane of the hub',
      '',
      'Whatever runs already and is known is left as it is, so that this can be run again at any time.',
      'Without targets all are adopted. A target is a pid, a tmux pane (%3), or the pane of one server,',
      'named by its socket (work:%3).',
    ],
    startsHub: true,
    args: ['[target…]'],
    flags: {
      'dry-run': toggle('Only say what would be adopted.'),
      name: text('An id of your own for the one target.', { value: 'ID' }),
    },
    examples: [
      'poly agent adopt --dry-run',
      'poly agent adopt',
      'poly agent adopt 4711 --name review',
      "poly agent adopt '%3' work:%5",
      'poly agent release review',
    ],
    async run({ args, flags, hub, env, out, json }) {
      const dryRun = flags['dry-run'] ?? false;
      const result = await hub.call('agent:adopt', {
        ...(args.length > 0 && { targets: args }),
        ...(flags.name !== undefined && { id: flags.name }),
        ...{ sockets: socketsOf(env), dryRun },
      });
      if (json) return out.json(result);
      show(out, result, { dryRun, named: args.length > 0 });
    },
  }),
  command({
    name: 'agent release',
    summary: 'Lets adopted agents go: they run on untouched, and are no longer watched.',
    args: ['<agent…>'],
    completes: 'agent',
    examples: ['poly agent release review'],
    async run({ args, hub, out, json }) {
      for (const paneId of args) await callOnPane(hub, 'agent:release', { paneId });
      if (json) out.json({ released: args });
    },
  }),
];

/** The tmux servers of whoever asks, which the hub may not know of: its environment is another one. */
function socketsOf({ TMUX, TMUX_TMPDIR }: Env): readonly string[] {
  const folder = join(TMUX_TMPDIR || '/tmp', `tmux-${process.getuid?.() ?? 0}`);
  const own = TMUX?.split(',')[0];
  try {
    return [...(own ? [own] : []), ...readdirSync(folder).map((name) => join(folder, name))];
  } catch {
    return own ? [own] : []; // No tmux was ever started there.
  }
}

function show(
  out: Output,
  { adopted, already, silent }: AgentAdoptResult,
  { dryRun, named }: { readonly dryRun: boolean; readonly named: boolean },
): void {
  for (const agent of adopted) {
    out.line(`${out.paint('cyan', agent.id ?? String(agent.pid))}  ${agent.vendor}  ${placeOf(agent)}`);
    showKnown(out, agent);
  }
  for (const agent of already) {
    if (named) out.line(`${out.paint('cyan', agent.id ?? '')}  ${agent.vendor}  ${placeOf(agent)}`);
    if (named) out.note(`${agent.id} was adopted before.`);
  }
  for (const { socket, why } of silent)
    out.note(`tmux at ${shown(socket, 200)} was left out: ${shown(why, 200)}.`);
  if (adopted.length > 0 || named) {
    if (dryRun) out.note('Nothing was adopted: without --dry-run it would be.');
    return;
  }
  const known = already.length > 0 ? ` ${already.length} adopted before: poly agent list` : '';
  out.note(`No agent that is not known already runs in tmux or outside.${known}`);
}

const placeOf = ({ tmux, pid, cwd }: FoundAgent): string =>
  [
    tmux ? `tmux pane ${tmux.pane} of ${shown(tmux.socket, 120)}` : 'outside of tmux',
    `pid ${pid}`,
    shown(cwd, 200),
  ].join(', ');

/** What can be known of an adopted agent and done with it, and what not. */
export function showKnown(
  out: Output,
  { sources, typing, resume, tmux, notes }: AdoptedAgentInfo,
  ended = false,
): void {
  const yes = (is: boolean): string => (is ? 'yes' : 'no');
  if (!ended) out.line(`  tells: ${sources.join(', ')}; typing: ${yes(typing)}; resume: ${yes(resume)}`);
  if (tmux && !ended) out.line(`  look: tmux -S ${shown(tmux.socket, 120)} attach -t '${tmux.pane}'`);
  for (const note of notes) out.line(out.paint('dim', `  - ${note}`));
}
