import type { AdoptedAgentInfo, Authority, Meta, PaneStatus } from '@polyphony/protocol';
import type { AgentProgram } from './agent-program.ts';

/** A pane of somebody else's tmux server. */
export interface TmuxPlace {
  readonly socket: string;
  /** The process of the server, which tells it from another on the same socket. */
  readonly server: number;
  readonly pane: string;
}

/** An agent that somebody else has started, as it is written down. It is no pane of ours: nothing here can end it. */
export interface AdoptedAgent {
  readonly id: string;
  readonly vendor: AgentProgram['vendor'];
  readonly title: string;
  /** What it is started with when its conversation is taken up again. */
  readonly argv: readonly string[];
  readonly fixedEnv: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly pid: number;
  /** Tells its process from another of the same number. */
  readonly startTime: string;
  /** When its process began. */
  readonly createdAt: number;
  readonly tmux: TmuxPlace | null;
  /** Whether one of its hooks has told anything. */
  readonly hooks: boolean;
  readonly sessionFile: boolean;
  readonly meta: Meta;
  readonly status: PaneStatus;
  /** Its terminal has gone, and its process runs on without one: nobody can talk to it any more. */
  readonly orphaned?: boolean;
  /** How somebody else's process has ended nobody is told. */
  readonly exitCode: null;
  readonly exitSignal: null;
}

/** What can be known of an agent and done with it, and what not; some may tell of it that did not when it was adopted. */
export function whatIsKnown(agent: AdoptedAgent, telling: readonly Authority[] = []): AdoptedAgentInfo {
  const { pid, cwd, vendor, tmux, meta, status } = agent;
  const protocol = telling.includes('protocol');
  const hooks = agent.hooks || telling.includes('hooks');
  const sessionFile = agent.sessionFile || telling.includes('session file');
  const screen = tmux !== null && vendor !== 'cursor';
  const resume = typeof meta['agent.sessionId'] === 'string' && vendor !== 'cursor';
  const sources: readonly Authority[] = [
    'process',
    ...(protocol ? (['protocol'] as const) : []),
    ...(hooks ? (['hooks'] as const) : []),
    ...(sessionFile ? (['session file'] as const) : []),
    ...(screen ? (['screen'] as const) : []),
  ];
  return {
    ...{ pid, cwd, sources, resume, typing: screen && status === 'running' },
    ...(tmux && { tmux: { socket: tmux.socket, pane: tmux.pane } }),
    notes:
      status === 'exited'
        ? notesAfter(agent)
        : notesOf({ protocol, hooks, sessionFile, screen, resume, vendor, tmux }),
  };
}

const notesAfter = ({ orphaned, pid }: AdoptedAgent): readonly string[] =>
  orphaned ? [`its tmux pane has gone; its process runs on without a terminal: kill ${pid} ends it`] : [];

interface Known extends Pick<AdoptedAgent, 'hooks' | 'sessionFile' | 'vendor' | 'tmux'> {
  readonly protocol: boolean;
  readonly screen: boolean;
  readonly resume: boolean;
}

function notesOf({ protocol, hooks, sessionFile, screen, resume, vendor, tmux }: Known): readonly string[] {
  const blind = !protocol && !hooks && !sessionFile && !screen;
  return [
    ...(blind ? ['only whether it runs is known: what it does stays unknown until a hook tells'] : []),
    ...(tmux === null
      ? ['it runs in no tmux: its screen cannot be read, and nothing can be typed at it']
      : []),
    ...(tmux !== null && !screen
      ? ['its screens are not known: nothing is read from them or typed at it']
      : []),
    ...(hooks || protocol || vendor === 'opencode'
      ? []
      : [
          'no hook of it has told anything: which tool it asks for is not known (poly hooks install, and start it anew)',
        ]),
    ...(resume
      ? []
      : [
          vendor === 'cursor'
            ? 'its conversation cannot be taken up again from here'
            : 'its conversation is not known yet: it cannot be taken up again once it has ended',
        ]),
  ];
}
