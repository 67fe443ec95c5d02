/** The flags that choose what an MCP client gets, as given to `poly mcp` and to `poly mcp install`. */
export interface ToolChoice {
  readonly toolsets?: string;
  readonly safety?: string;
  readonly operations?: boolean;
  readonly 'socket-path'?: string;
  readonly 'socket-name'?: string;
  readonly 'no-caller-socket'?: boolean;
  readonly channel?: boolean;
}

const texts = ['toolsets', 'safety', 'socket-path', 'socket-name'] as const;
const switches = ['operations', 'no-caller-socket', 'channel'] as const;

/** The same in the address of `/mcp`. */
export function queryOf(flags: ToolChoice): URLSearchParams {
  return new URLSearchParams([
    ...givenTexts(flags),
    ...(flags.operations ? [['operations', 'true']] : []),
    ...(flags.channel ? [['channel', 'true']] : []),
    ...(flags['no-caller-socket'] ? [['caller-socket', 'false']] : []),
  ]);
}

/** The same as words of the command. */
export function wordsOf(flags: ToolChoice): readonly string[] {
  return [
    ...givenTexts(flags).flatMap(([name, value]) => [`--${name}`, value]),
    ...switches.filter((name) => flags[name]).map((name) => `--${name}`),
  ];
}

function givenTexts(flags: ToolChoice): [name: string, value: string][] {
  return texts.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]]));
}
