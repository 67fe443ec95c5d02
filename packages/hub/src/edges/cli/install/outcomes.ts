import { type ErrorInfo, errorKinds, PolyError } from '@polyphony/protocol';
import type { Call } from '../command.ts';
import type { Target } from './targets.ts';

/** What became of one file. */
interface Outcome {
  readonly client: string;
  readonly title: string;
  readonly file: string;
  readonly state: string;
  readonly [more: string]: unknown;
}

/** Does it to every file: the trouble with one keeps none of the others waiting. */
export function forEachTarget<T extends Target>(
  call: Pick<Call, 'out' | 'json'>,
  targets: readonly T[],
  act: (target: T) => (Readonly<Record<string, unknown>> & { readonly state: string }) | undefined,
): number {
  const outcomes: Outcome[] = [];
  const troubles: ErrorInfo[] = [];
  for (const target of targets) {
    const { client, title, file } = target;
    try {
      const done = act(target);
      if (done) outcomes.push({ client, title, file, ...done });
    } catch (error) {
      if (!(error instanceof PolyError) || targets.length === 1) throw error;
      troubles.push(error.info);
      outcomes.push({ client, title, file, state: 'refused', error: error.info });
    }
  }
  show(call, outcomes, troubles);
  return Math.max(0, ...troubles.slice(0, 1).map(({ code }) => errorKinds[code].exit));
}

function show(
  { out, json }: Pick<Call, 'out' | 'json'>,
  outcomes: readonly Outcome[],
  troubles: readonly ErrorInfo[],
): void {
  if (json) {
    out.json(outcomes);
    return;
  }
  const diffs = outcomes.filter(({ diff }) => diff !== undefined);
  for (const { diff } of diffs) out.bytes(diff as string);
  const rest = outcomes.filter(({ diff }) => diff === undefined);
  // With a dry run standard output is the diff and nothing else.
  if (diffs.length > 0) for (const { title, state, file } of rest) out.note(`${title}: ${state}: ${file}`);
  else
    out.table(
      rest.map(({ title, state, file, starts, hears, delivers, line, kept }) => [
        ...[title, painted(out, state), file],
        [starts ?? hears, delivers, line, kept].filter(Boolean).join(', '),
      ]),
    );
  for (const note of new Set(outcomes.flatMap(({ afterwards }) => (afterwards as string | undefined) ?? [])))
    out.note(note);
  for (const { message, hint = '' } of troubles) out.note(`poly: ${message} ${hint}`.trim());
  if (outcomes.length === 0) out.note('There is nothing to remove.');
}

const colours = { added: 'green', updated: 'green', installed: 'green', refused: 'red' } as const;

function painted(out: Call['out'], state: string): string {
  return out.paint(colours[state as keyof typeof colours] ?? 'dim', state);
}
