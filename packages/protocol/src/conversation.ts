/** Which coding agent's conversation somebody is in. */
export interface Conversation {
  readonly vendor: string;
  readonly conversation: string;
}

/** What coding agents tell their tools and servers of the conversation they work for. */
const variables: readonly (readonly [vendor: string, name: string])[] = [
  ['claude', 'CLAUDE_CODE_SESSION_ID'],
  ['codex', 'CODEX_THREAD_ID'],
];

/**
 * The conversation that a program works for, by its environment. It may have changed since the program was started.
 *
 * @example conversationIn({ CLAUDE_CODE_SESSION_ID: 'c0ffee' }) // { vendor: 'claude', conversation: 'c0ffee' }
 */
export function conversationIn(env: Readonly<Record<string, string | undefined>>): Conversation | undefined {
  for (const [vendor, name] of variables) {
    const conversation = env[name];
    if (conversation !== undefined && /^[\w.:-]{1,200}$/.test(conversation)) return { vendor, conversation };
  }
  return undefined;
}
