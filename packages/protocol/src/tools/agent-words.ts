interface Translation {
  /** What a hint says to people at a command line. */
  readonly said: RegExp;
  /** Tools that do the same, the best first; without one nothing needs to be there. */
  readonly tools?: readonly string[];
  /** What an agent is told, with what stood in the brackets of the pattern. */
  says(tool: string, ...found: readonly string[]): string;
}

const called = (tool: string): string => tool;

const translations: readonly Translation[] = [
  {
    said: /poly action \S+ --help shows what it takes\./g,
    says: () => 'Its input schema says what it takes.',
  },
  { said: /poly run --backend pty|--backend pty/g, tools: ['pty_spawn'], says: called },
  {
    said: /poly run --backend pty|--backend pty/g,
    tools: ['pane_new'],
    says: (tool) => `${tool} with backend "pty"`,
  },
  { said: /poly ls\b/g, tools: ['pty_list', 'pane_list'], says: called },
  { said: /poly session start\b/g, tools: ['session_start'], says: called },
  { said: /poly server status\b/g, tools: ['server_status'], says: called },
  { said: /poly approvals ls\b/g, tools: ['approval_list'], says: called },
  { said: /poly ext list\b/g, tools: ['extensions_list'], says: called },
  { said: /poly mail register( [A-Z]+)?/g, tools: ['register_agent', 'mail_register'], says: called },
  { said: /poly mail agents\b/g, tools: ['list_agents', 'mail_agents'], says: called },
  { said: /poly mail inbox\b/g, tools: ['get_inbox', 'mail_inbox'], says: called },
  {
    said: /poly join PROJECT( --session SESSION)?/g,
    tools: ['floor_connect', 'floor_join'],
    says: called,
  },
  { said: /poly project list\b/g, tools: ['project_list'], says: called },
  { said: /poly floor sessions\b/g, tools: ['floor_sessions'], says: called },
  { said: /poly task list --ready\b/g, tools: ['task_list'], says: (tool) => `${tool} with ready: true` },
  { said: /poly task list\b/g, tools: ['task_list'], says: called },
  {
    said: /poly contract diff (\S+) (\d+) (\d+)/g,
    tools: ['diff_contracts', 'contract_diff'],
    says: (tool, name, from, to) => `${tool} (name "${name}", from_version ${from}, to_version ${to})`,
  },
  {
    said: /poly contract ack (\S+?)([,.]|$)/g,
    tools: ['ack_contract', 'contract_ack'],
    says: (tool, name, mark) => `${tool} (name "${name}")${mark}`,
  },
  { said: /poly contract list\b/g, tools: ['list_contracts', 'contract_list'], says: called },
  { said: /poly file list\b/g, tools: ['file_list'], says: called },
  {
    said: /poly ext remove (\S+)/g,
    tools: ['extensions_remove'],
    says: (tool, name = '') => `${tool} with name "${name}"`,
  },
];

/**
 * A hint as an agent can follow it: by the tool that does the same where it has one; what only a command does is for
 * its user.
 *
 * @example inAgentWords('poly ls shows every pane.', (tool) => tool === 'pty_list') // 'pty_list shows every pane.'
 */
export function inAgentWords(hint: string, has: (tool: string) => boolean): string {
  const told = translations.reduce((text, { said, tools, says }) => {
    const tool = tools?.find(has);
    if (tools && tool === undefined) return text;
    return text.replace(said, (_, ...found: readonly unknown[]) => says(tool ?? '', ...found.map(String)));
  }, hint);
  const isCommand = /(^|\s)(poly [a-z]|--[a-z])/.test(told) && !/\buser\b/i.test(told);
  return isCommand ? `${told} (That is a command for your user.)` : told;
}
