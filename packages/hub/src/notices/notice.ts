import { type AgentStatus, type BuiltInEvents, reasonText } from '@polyphony/protocol';

/** What people are told of an agent that needs them: who, where and why. */
export interface Notice {
  readonly paneId: string;
  readonly status: AgentStatus;
  readonly title: string;
  readonly body: string;
}

const says: Partial<Readonly<Record<AgentStatus, string>>> = {
  blocked: 'waits for you',
  done: 'is done',
  error: 'has failed',
};

interface Place {
  readonly vendor: string;
  readonly title: string;
  readonly cwd: string;
}

/** Undefined when nobody needs to be told. */
export function noticeOf(
  { paneId, status, reason, evidence, attention }: BuiltInEvents['agent:state'],
  { vendor, title, cwd }: Place,
): Notice | undefined {
  const said = says[status];
  if (!attention || said === undefined) return undefined;
  const why = reason ? reasonText(reason) : status === 'error' ? (evidence ?? '') : title;
  return {
    ...{ paneId, status },
    title: harmless(`${vendor} ${said}`),
    body: harmless([why, `${paneId} in ${cwd}`].filter(Boolean).join(' · ')),
  };
}

const longest = 300;

/** A program chose these words: no terminal may take them for an order, and no reader for others. */
function harmless(text: string): string {
  return text
    .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, longest);
}
