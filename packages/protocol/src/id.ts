import * as z from 'zod';

/** `pty_` or `pane_` and 8 hex digits, or a name of the caller's own. */
export const paneId: z.ZodType<string> = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'must be 1-64 letters, digits, ".", "_" or "-", starting with a letter or digit',
  )
  .describe('Id of the pane.');

/** Somebody who acts: a person, an agent, or a person in Slack. Stamped by the hub, never taken from a body. */
export type Participant = `${'user' | 'agent' | 'slack'}:${string}`;

const participantPattern = /^(user|agent|slack):[a-z0-9][a-z0-9._-]{0,63}$/;

export function isParticipant(text: string): text is Participant {
  return participantPattern.test(text);
}

/** The participant of that kind whose name is nearest to `name`. */
export function participantOf(kind: 'user' | 'agent' | 'slack', name: string): Participant {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9._-]/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 64);
  return `${kind}:${plain || 'unknown'}`;
}
