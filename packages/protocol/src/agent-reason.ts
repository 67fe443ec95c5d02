import type { AgentReason } from './agent.ts';

/** Of what a tool is given, what people would read first. */
const telling = ['command', 'file_path', 'path', 'url', 'pattern', 'description'];
const longest = 200;

/** What an agent waits for, in one line. */
export function reasonText({ kind, tool, input, text }: AgentReason): string {
  const subject = [tool, input === undefined ? text : subjectOf(input)].filter(Boolean).join(' ');
  const line = subject === '' ? kind : `${kind}: ${subject}`;
  const flat = line.replace(/\s+/g, ' ');
  return flat.length > longest ? `${flat.slice(0, longest - 1)}…` : flat;
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
