/** An expression, and what it is held against: the lines of each of some terminals. */
export interface Grep {
  readonly source: string;
  readonly flags: string;
  readonly terminals: readonly (readonly string[])[];
}

/** The lines that match, of each terminal. */
export function matchingLines({ source, flags, terminals }: Grep): readonly (readonly string[])[] {
  const expression = new RegExp(source, flags);
  return terminals.map((lines) => lines.filter((line) => expression.test(line)));
}
