import type { AgentReason } from './agent.ts';

/** Of what a tool is given, what people would read first. */
const telling = ['command', 'file_path', 'filePath', 'path', 'url', 'pattern', 'description'];
const longest = 200;

/** What an agent waits for, in one line. */
export function reasonText({ kind, tool, input, text, resetsAt }: AgentReason): string {
  const subject = [tool, input === undefined ? text : subjectOf(input)].filter(Boolean).join(' ');
  const until = resetsAt === undefined ? '' : ` until ${timeOf(resetsAt)}`;
  const line = `${kind}${until}${subject && `: ${subject}`}`;
  const flat = line.replace(/\s+/g, ' ');
  return flat.length > longest ? `${flat.slice(0, longest - 1)}…` : flat;
}

/** A time of day, here; one that is further off with its day. */
function timeOf(resetsAt: string): string {
  const date = new Date(resetsAt);
  const two = (value: number): string => String(value).padStart(2, '0');
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return date.getTime() - Date.now() < 20 * 3_600_000
    ? time
    : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

function subjectOf(input: string): string {
  try {
    const given = JSON.parse(input) as Readonly<Record<string, unknown>> | null;
    const found = telling.map((key) => given?.[key]).find((value) => typeof value === 'string');
    return typeof found === 'string' ? found : input;
  } catch {
    return input; // Text, or JSON that was cut.
  }
}
