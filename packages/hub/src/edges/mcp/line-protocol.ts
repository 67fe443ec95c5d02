/** What `poly mcp` asks HTTP to be left for: a greeting, then one message a line, both ways. */
export const lineProtocol = 'poly-lines';

/** Why a conversation was ended, in the numbers that WebSockets have for it. */
export const farewell = {
  done: 1000,
  stopping: 1001,
  notUnderstood: 1007,
  refused: 1008,
  tooLarge: 1009,
} as const;
