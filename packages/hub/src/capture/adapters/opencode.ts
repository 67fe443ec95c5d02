import type { Adapter } from './adapter.ts';

const running = { status: 'running' } as const;
const session = 'properties.sessionID';
/** Of a session below another: what a sub-agent does is not what the agent does. */
const isBelow = { field: 'parentID', is: /./, state: null } as const;

/** OpenCode, 1.18.33: what its plugin hands on of the events of the session, in OpenCode's own words. */
export const opencode: Adapter = {
  session,
  // Our plugin says of a session below another which agent it runs, and which session is at the top.
  subagent: { id: session, type: 'agent', above: 'parentID' },
  cwd: 'directory',
  events: {
    'session.created': {
      ...{ kind: 'session_started', reason: 'agent' },
      where: [{ ...isBelow, kind: 'subagent_started' }],
    },
    'chat.message': { kind: 'prompt', text: 'properties.text', state: running },
    'session.status': {
      kind: 'other',
      reason: 'properties.status.type',
      where: [
        { field: 'properties.status.type', is: /^busy$/, state: running },
        {
          field: 'properties.status.type',
          is: /^retry$/,
          state: { status: 'blocked', blockedOn: 'rate limit' },
        },
        { field: 'properties.status.type', is: /^idle$/, state: { status: 'idle' } },
      ],
    },
    // Our plugin says what it answered.
    'session.idle': {
      ...{ kind: 'turn_ended', text: 'properties.text', reason: 'agent', state: { status: 'idle' } },
      where: [
        // One that was broken off is told twice, without words.
        { field: 'properties.text', is: /^$/, state: { status: 'idle' } },
        { ...isBelow, kind: 'subagent_ended' },
      ],
    },
    'message.part.updated': { kind: 'said', text: 'properties.part.text' },
    // Our plugin has seen a turn with what it brought from the inbox.
    'inbox.seen': { kind: 'said' },
    'session.error': {
      ...{ kind: 'turn_failed', error: 'properties.error', state: { status: 'error' } },
      where: [
        {
          field: 'properties.error.name',
          is: /^MessageAbortedError$/,
          kind: 'interrupted',
          by: 'user',
          state: { status: 'idle' },
        },
      ],
    },
    'permission.asked': {
      kind: 'asked',
      tool: 'properties.permission',
      input: 'properties.patterns',
      call: 'properties.tool.callID',
      state: { status: 'blocked', blockedOn: 'permission' },
    },
    // Our plugin says what was asked.
    'permission.replied': {
      kind: 'allowed',
      by: 'user',
      tool: 'properties.asked.permission',
      input: 'properties.asked.patterns',
      call: 'properties.asked.tool.callID',
      reason: 'properties.reply',
      state: running,
      where: [{ field: 'properties.reply', is: /^reject$/, kind: 'refused', by: 'user', state: running }],
    },
    'question.asked': {
      kind: 'asked',
      input: 'properties.questions',
      state: { status: 'blocked', blockedOn: 'question' },
    },
    'question.replied': { kind: 'other', state: running },
    'question.rejected': { kind: 'other', state: running },
    'tool.execute.before': {
      kind: 'tool_started',
      tool: 'properties.tool',
      input: 'properties.args',
      call: 'properties.callID',
      state: running,
    },
    'tool.execute.after': {
      kind: 'tool_ended',
      tool: 'properties.tool',
      result: 'properties.output',
      call: 'properties.callID',
      state: running,
    },
    'session.compacted': { kind: 'compacted' },
    'session.deleted': { kind: 'session_ended', where: [{ ...isBelow, kind: 'other' }] },
  },
  gaps: [
    'nothing without our plugin: then its screen tells',
    'after an error or an abort session.idle comes twice',
  ],
};
