import type { PaneInfo } from '@polyphony/protocol';
import { harmless } from './harmless.ts';

type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'off';

export interface PaneState {
  readonly label: string;
  readonly tone: Tone;
  /** What its agent waits for. */
  readonly reason?: string;
  /** Since when its agent does what it does. */
  readonly since?: string;
}

/** What agents are doing, in the words of the hub. */
export const agentTones: Readonly<Record<string, Tone>> = {
  starting: 'busy',
  idle: 'good',
  running: 'busy',
  blocked: 'wait',
  done: 'wait',
  error: 'bad',
  gone: 'off',
};

export function stateOf({ status, exitCode, exitSignal, meta }: PaneInfo): PaneState {
  if (status === 'exited') {
    const how = exitSignal ?? exitCode ?? 'unknown';
    return { label: `ended: ${how}`, tone: exitCode === 0 ? 'off' : 'bad' };
  }
  const { 'agent.status': agent, 'agent.reason': reason, 'agent.lastEventAt': since } = meta;
  const tone = typeof agent === 'string' ? agentTones[agent] : undefined;
  if (!tone) return { label: 'running', tone: 'good' };
  return {
    ...{ label: `agent ${agent}`, tone },
    ...(typeof reason === 'string' && { reason: harmless(reason) }),
    ...(typeof since === 'string' && { since }),
  };
}

/** Its agent waits, is done or has failed: somebody should look. */
export function needsSomebody({ status, meta }: PaneInfo): boolean {
  return status === 'running' && isNeedy(String(meta['agent.status']));
}

/** What an agent does when somebody should look. */
export function isNeedy(status: string): boolean {
  return ['blocked', 'done', 'error'].includes(status);
}

/** The command line of a pane, as a person would type it. */
export function commandOf({ argv }: PaneInfo): string {
  return harmless(typed(argv));
}

function typed(argv: readonly string[]): string {
  const [first, second, ...rest] = argv;
  const words = first === 'sh' && second === '-c' && rest.length === 1 ? rest : argv;
  return words.join(' ');
}

const madeByHub = /^(pty|pane)_[0-9a-f]{8}$/;

export interface PaneName {
  /** The id that somebody has chosen, else the title. */
  readonly name: string;
  /** The title, where it is neither the name nor the command once more. */
  readonly title: string | undefined;
}

/** What a pane is called. */
export function nameOf(pane: PaneInfo): PaneName {
  const title = harmless(pane.title);
  if (madeByHub.test(pane.id)) return { name: isCommand(pane) ? commandOf(pane) : title, title: undefined };
  return { name: pane.id, title: isCommand(pane) || pane.title === pane.id ? undefined : title };
}

/** A pane that nobody gave a title has its command for one, as far as it fits. */
function isCommand({ title, argv }: PaneInfo): boolean {
  return [argv.join(' '), typed(argv)].some((command) => command.slice(0, 200) === title);
}

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
] as const;

/** How long ago something was, in one unit. */
export function ageOf(since: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(since)) / 1000);
  const [unit, size] = units.find(([, length]) => seconds >= length) ?? ['s', 1];
  return `${Math.floor(seconds / size)}${unit}`;
}
