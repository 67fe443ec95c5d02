import { basename } from 'node:path';
import { PolyError } from '@polyphony/protocol';
import { ancestors, type Sight, type Sighting } from './find-agents.ts';
import type { ForeignPane } from './foreign-tmux.ts';

type Pane = ForeignPane & { readonly socket: string };

const knownAgents = 'claude, codex, opencode, gemini, cursor-agent';

/** Of the agents that were found those that are meant: all that can be adopted, or those that were named. */
export function chooseAgents(sight: Sight, targets: readonly string[] | undefined): readonly Sighting[] {
  if (!targets) return sight.agents.filter(({ ours, headless }) => ours === undefined && !headless);
  return [...new Set(targets.map((target) => chooseOne(sight, target)))];
}

function chooseOne(sight: Sight, target: string): Sighting {
  const { pid, what } = /^\d+$/.test(target)
    ? { pid: processNamed(sight, Number(target)), what: `process ${target}` }
    : { pid: undefined, what: `the tmux pane ${target}` };
  const pane = pid === undefined ? paneNamed(sight, target) : undefined;
  const agent =
    pane === undefined
      ? sight.agents.find((each) => pid !== undefined && ancestors(pid, sight.processes).includes(each.pid))
      : sight.agents.find(({ tmux }) => tmux?.pane === pane.pane && tmux.socket === pane.socket);
  if (!agent) {
    const program = sight.processes.get(pid ?? pane?.pid ?? 0)?.name ?? 'something';
    throw new PolyError('conflict', `${what} runs ${program}, and no coding agent that is known here.`, {
      hint: `Known are ${knownAgents}. poly agent adopt --dry-run shows those that run.`,
    });
  }
  if (agent.ours !== undefined)
    throw new PolyError('conflict', `${what} belongs to a pane of ${agent.ours ? 'this' : 'another'} hub.`, {
      hint: agent.ours
        ? `It is watched as ${agent.ours}: poly agent list`
        : 'Ask that hub: its POLY_HOME is another one.',
    });
  if (agent.headless)
    throw new PolyError(
      'conflict',
      `${what} is ${agent.vendor} at work for another program, or for one answer.`,
      {
        hint: 'Only agents that somebody talks to are adopted.',
      },
    );
  return agent;
}

function processNamed({ processes }: Sight, pid: number): number {
  if (processes.has(pid)) return pid;
  throw new PolyError('not_found', `no process ${pid} runs.`, {
    hint: 'poly agent adopt --dry-run shows the agents that run.',
  });
}

/** `%3`, or `work:%3` and `/path/of/socket:%3` where several servers have it. */
function paneNamed({ agents, panes, silent }: Sight, target: string): Pane {
  const [, server, name = ''] = /^(?:(.+):)?(%\d+)$/s.exec(target) ?? [];
  if (name === '')
    throw new PolyError('invalid_arguments', `"${target.slice(0, 200)}" is neither a pid nor a tmux pane.`, {
      hint: 'Say 4711, %3, or work:%3 for the pane of the server with that socket.',
    });
  const all = panes.filter(
    ({ pane, socket }) =>
      pane === name && (server === undefined || server === socket || server === basename(socket)),
  );
  const inhabited = all.filter(({ pane, socket }) =>
    agents.some(({ tmux }) => tmux?.pane === pane && tmux.socket === socket),
  );
  const found = inhabited.length > 0 ? inhabited : all;
  if (found.length > 1)
    throw new PolyError('invalid_arguments', `${found.length} tmux servers have a pane ${target}.`, {
      hint: `Say which: ${found.map(({ socket }) => `${socket}:${name}`).join(' or ')}`,
    });
  if (found[0]) return found[0];
  const mute = silent.length > 0 ? ` ${silent.map(({ socket }) => socket).join(', ')} did not answer.` : '';
  throw new PolyError('not_found', `no tmux server that answers has a pane ${target}.${mute}`, {
    hint: 'tmux list-panes -a shows the panes of a server; poly agent adopt --dry-run the agents in all of them.',
  });
}
