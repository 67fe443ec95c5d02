/** Parameters that say best what a tool does, and what came of it. */
const telling = [
  ...['command', 'file_path', 'filePath', 'notebook_path', 'path', 'pattern', 'url', 'query', 'prompt'],
  ...['description', 'stdout', 'output', 'content', 'text', 'result', 'dir_path', 'llmContent', 'message'],
  'data',
];

type Fields = Readonly<Record<string, unknown>>;

/** What an agent handed over, in the words that matter of it; as JSON where nobody knows which do. */
export function inWords(value: unknown): string {
  return wordsIn(value) || (isSilent(value) ? '' : written(value));
}

/** Tools that change a file. */
const changes = /edit|write|patch|create|replace|notebook/i;

/** The file that a tool changes. */
export function fileChangedBy(tool: string | undefined, input: unknown): string | undefined {
  if (tool === undefined || !changes.test(tool) || !isFields(input)) return undefined;
  const places = ['file_path', 'filePath', 'notebook_path', 'path'];
  return places.map((name) => input[name]).find((one) => typeof one === 'string');
}

/** As JSON; what is nested too deep to be written says so instead. */
export function written(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '[nested too deep to be shown]';
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A result with a place for words, and none in it. */
const isSilent = (value: unknown): boolean =>
  isFields(value) && [...telling, 'returnDisplay'].some((name) => value[name] === '');

/** Deeper than this nobody puts words. */
const deepest = 16;

function wordsIn(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (depth > deepest) return '';
  if (Array.isArray(value))
    return value
      .map((one) => wordsIn(one, depth + 1))
      .filter(Boolean)
      .join('\n');
  if (!isFields(value)) return '';
  const found =
    displayed(value.returnDisplay) ||
    (telling.map((name) => wordsIn(value[name], depth + 1)).find((text) => text !== '') ?? '');
  const error = wordsIn(value.stderr, depth + 1);
  return [unwrapped(found), error].filter(Boolean).join('\n');
}

/** What Gemini 0.61.0 shows its user of a result: a text, or the rows of a terminal, each in pieces of one colour. */
function displayed(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value) || !value.every(Array.isArray)) return '';
  return (value as readonly (readonly unknown[])[])
    .map((row) => row.map((piece) => (isFields(piece) ? wordsIn(piece.text) : '')).join(''))
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd();
}

/** Gemini 0.61.0 tells its model so what it should not obey. */
const unwrapped = (text: string): string =>
  /^<untrusted_context>\n([\s\S]*)\n<\/untrusted_context>$/.exec(text)?.[1] ?? text;
