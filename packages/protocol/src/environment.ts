/** Who the caller is, where it stands and which terminal it has; a new pane has its own of all that. */
const ofTheCaller =
  /^(POLY_.*|TMUX|TMUX_.*|STY|WINDOW|ZELLIJ.*|TERM|TERMINFO|TERMCAP|TERM_.*|LC_TERMINAL.*|COLORTERM|COLORFGBG|LINES|COLUMNS|WINDOWID|VTE_VERSION|(KITTY|ITERM|WEZTERM|ALACRITTY|GHOSTTY|KONSOLE|WT)_.*|SSH_TTY|GPG_TTY|PWD|OLDPWD|SHLVL|_)$/;

/** By what coding agents set for their tools, an agent that runs as one is known; a new pane is nobody's tool. */
export const marksOfTools: RegExp =
  /^(CLAUDECODE|CLAUDE_PID|CLAUDE_CODE_(CHILD_SESSION|ENTRYPOINT|EXECPATH|MESSAGING_(SOCKET|TOKEN)|SESSION_(ID|ATTENDED))|AI_AGENT|CODEX_(CI|(THREAD|SESSION|TOOL_CALL)_ID)|GEMINI_CLI|OPENCODE|OPENCODE_PID)$/;

/** The part of a caller's environment that a program gets as if it were started right there. */
export function environmentToPass(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && !ofTheCaller.test(entry[0]) && !marksOfTools.test(entry[0]),
    ),
  );
}
