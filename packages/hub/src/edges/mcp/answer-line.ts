type Id = string | number;

const opening = '{"jsonrpc":"2.0","id":';
/** More than the opening and any id that a client would choose. */
const mostHead = 200;

/** A message as a line of JSON; that of an answer begins with its id, so that it can be told from its first bytes. */
export function lineOf(message: object): string {
  const { jsonrpc, id, ...rest } = message as { readonly jsonrpc?: string; readonly id?: Id | null };
  const isAnswer = id !== undefined && !('method' in rest);
  return `${JSON.stringify(isAnswer ? { jsonrpc, id, ...rest } : message)}\n`;
}

/** Which call a line answers; undefined where its beginning does not tell. */
export function answeredBy(line: Buffer): Id | undefined {
  const head = line.toString('latin1', 0, mostHead);
  if (!head.startsWith(opening)) return undefined;
  const [, id] = /^(\d+|"[\w-]+"),"(?:result|error)":/.exec(head.slice(opening.length)) ?? [];
  return id && (JSON.parse(id) as Id);
}
