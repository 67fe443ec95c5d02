import type { Operation } from '../operation/operation.ts';
import { quoteToken } from '../operation/quote.ts';
import type { TmuxVersion } from '../operation/version.ts';
import { bindOperation, isSlotRef, refsOf } from './slot.ts';
import type { HostStep, Step } from './step.ts';

/** One step as it will be sent. */
export interface PreviewLine {
  readonly index: number;
  readonly type: Step['type'];
  /** The words tmux gets; null for a host step, and as long as a slot in it has no id. */
  readonly argv: readonly string[] | null;
  /** For people: slots as {slot 2 pane}, find-or-create as `probe || create`, host steps as comments. */
  readonly text: string;
  /** What its words take on a line. */
  readonly bytes: number;
}

/** Renders every step, and so refuses what this tmux does not know before anything has been done. */
export function previewSteps(steps: readonly Step[], version: TmuxVersion | string): readonly PreviewLine[] {
  return steps.map((step, index) => {
    if (step.type === 'host')
      return { index, type: step.type, argv: null, text: `# ${hostText(step.host)}`, bytes: 0 };
    const operation = step.type === 'ensure' ? step.create : step.operation;
    const words = wordsOf(operation, version);
    const probe = step.type === 'ensure' ? `${shown(wordsOf(step.probe, version))} || ` : '';
    return {
      index,
      type: step.type,
      argv: refsOf(operation.params).length > 0 ? null : words,
      text: probe + shown(words),
      bytes: words.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0),
    };
  });
}

function wordsOf(operation: Operation, version: TmuxVersion | string): readonly string[] {
  return bindOperation(operation, ({ slot, part }) => `{slot ${slot} ${part}}`).render(version);
}

function shown(words: readonly string[]): string {
  return words.map((word) => (/^\{slot \d+ [a-z]+\}$/.test(word) ? word : quoteToken(word))).join(' ');
}

function hostText(host: HostStep): string {
  if (host.type === 'sleep') return `sleep ${host.ms} ms`;
  if (host.type === 'script') return `script ${JSON.stringify(host.command)}`;
  if (host.type === 'call') return `call ${host.name}`;
  const { target } = host;
  return `wait up to ${host.timeoutMs} ms for ${isSlotRef(target) ? `{slot ${target.slot} ${target.part}}` : target}`;
}
