import type { CaptureKind, TimelineData, TimelineKind } from '@polyphony/protocol';

/** What a hook of a coding agent told, as far as a timeline tells of it. */
export interface Heard {
  readonly kind: CaptureKind;
  readonly event: string;
  readonly session: string | null;
  readonly by: 'user' | 'agent';
  readonly turn?: string;
  readonly subagent?: string;
  readonly subagentType?: string;
  readonly cwd?: string;
  readonly text?: string;
  readonly tool?: string;
  readonly input?: string;
  readonly does?: string;
  readonly file?: string;
  readonly result?: string;
  readonly call?: string;
  readonly error?: string;
  readonly reason?: string;
}

/** A part of the story, without who and when. */
export interface Told {
  readonly kind: TimelineKind;
  readonly text: string;
  readonly data: TimelineData;
}

const kinds: Readonly<Record<CaptureKind, TimelineKind>> = {
  session_started: 'session_start',
  session_ended: 'session_end',
  prompt: 'prompt',
  said: 'said',
  tool_started: 'tool',
  tool_ended: 'tool_result',
  tool_failed: 'tool_result',
  asked: 'asked',
  allowed: 'approved',
  refused: 'rejected',
  notice: 'notice',
  turn_ended: 'answer',
  turn_failed: 'failure',
  interrupted: 'interrupt',
  compacting: 'compaction',
  compacted: 'compaction',
  subagent_started: 'subagent',
  subagent_ended: 'subagent',
  gap: 'gap',
  other: 'other',
};

/** What stands in an entry where the coding agent gives no words to it. */
const words: Partial<Readonly<Record<CaptureKind, (heard: Heard) => string>>> = {
  session_started: ({ reason }) => `The conversation began${reason ? ` (${reason})` : ''}.`,
  session_ended: ({ reason }) => `The conversation ended${reason ? ` (${reason})` : ''}.`,
  interrupted: () => 'The turn was interrupted.',
  compacting: ({ reason }) => `What was said is being compacted${reason ? ` (${reason})` : ''}.`,
  compacted: ({ reason }) => `What was said was compacted${reason ? ` (${reason})` : ''}.`,
  subagent_started: ({ reason }) => `A subagent began${reason ? `: ${reason}` : ''}.`,
  subagent_ended: ({ reason }) => `A subagent ended${reason ? `: ${reason}` : ''}.`,
  turn_failed: ({ error }) => error || 'The turn failed.',
  gap: () => 'Something happened here that there was no room for.',
};

/** What has the words of a tool. */
const aboutTool: ReadonlySet<CaptureKind> = new Set(['tool_started', 'asked', 'allowed', 'refused']);

/** Without words these tell nothing that anybody would read. */
const needWords: ReadonlySet<TimelineKind> = new Set(['answer', 'said', 'notice']);

/** What an event is in the story of a session. */
export function told(vendor: string, heard: Heard): Told {
  const kind = kindOf(heard);
  const text = textOf(heard);
  const { event, session, turn, subagent, subagentType, cwd, tool, input, call, error, reason } = heard;
  const file = heard.kind === 'tool_started' ? heard.file : undefined;
  const data: TimelineData = {
    ...{ vendor, ...(session !== null && { conversation: session }), ...(event !== '' && { event }) },
    ...given({ turn, subagent, subagent_type: subagentType, cwd, tool, input, call, error, reason, file }),
    ...(heard.kind === 'turn_ended' && subagent === undefined && { turn_over: true }),
  };
  return { kind: needWords.has(kind) && text === '' ? 'other' : kind, text, data };
}

/** What looks like a prompt and no person wrote is told to the agent, and not asked of it. */
const kindOf = ({ kind, by }: Heard): TimelineKind =>
  kind === 'prompt' && by !== 'user' ? 'notice' : kinds[kind];

function textOf(heard: Heard): string {
  const { kind, text, tool = '', does = '', result = '', error, reason = '' } = heard;
  if (aboutTool.has(kind)) return [tool, does, kind === 'refused' ? reason : ''].filter(Boolean).join(': ');
  if (kind === 'tool_ended') return result;
  if (kind === 'tool_failed') return error ?? result;
  return text || (words[kind]?.(heard) ?? '');
}

const given = (fields: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined),
  );
