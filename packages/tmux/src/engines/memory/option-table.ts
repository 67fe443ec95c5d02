export type OptionScope = 'server' | 'session' | 'window';

/** tmux's options by scope, with their defaults where those are one word; a number or on/off also tells the type. */
const tables: Readonly<Record<OptionScope, string>> = {
  server: `backspace buffer-limit=50 codepoint-widths command-alias copy-command default-client-command
    default-terminal=tmux-256color editor escape-time=10 exit-empty=on exit-unattached=off extended-keys extended-keys-format
    focus-events=off get-clipboard history-file input-buffer-size message-limit=1000 prefix-timeout=0
    prompt-history-limit=100 set-clipboard=external terminal-features terminal-overrides user-keys
    variation-selector-always-wide=on`,
  session: `activity-action=other assume-paste-time=1 base-index=0 bell-action=any default-command default-shell=/bin/sh
    default-size=80x24 destroy-unattached=off detach-on-destroy display-panes-active-colour=red display-panes-colour=blue
    display-panes-time=1000 display-time=750 focus-follows-mouse=off history-limit=2000 initial-repeat-time=0 key-table=root
    lock-after-time=0 lock-command message-command-style message-format message-line message-style mouse=off prefix=C-b
    prefix2=None prompt-command-cursor-style prompt-cursor-colour prompt-cursor-style renumber-windows=off repeat-time=500
    set-titles=off set-titles-string silence-action=other status status-bg=default status-fg=default status-format
    status-interval=15 status-justify=left status-keys=emacs status-left status-left-length=10 status-left-style=default
    status-position=bottom status-right status-right-length=40 status-right-style=default status-style update-environment
    visual-activity visual-bell visual-silence word-separators`,
  window: `aggressive-resize=off allow-passthrough allow-rename=off allow-set-title=on alternate-screen=on automatic-rename=on
    automatic-rename-format clock-mode-colour=blue clock-mode-style copy-mode-current-line-number-style
    copy-mode-current-match-style copy-mode-line-number-style copy-mode-line-numbers copy-mode-mark-style
    copy-mode-match-style copy-mode-position-format copy-mode-position-style copy-mode-selection-style cursor-colour
    cursor-style fill-character main-pane-height main-pane-width menu-border-lines menu-border-style menu-selected-style
    menu-style mode-keys=emacs mode-style monitor-activity=off monitor-bell=on monitor-silence=0 other-pane-height
    other-pane-width pane-active-border-style pane-base-index=0 pane-border-format pane-border-indicators pane-border-lines
    pane-border-status pane-border-style pane-colours pane-scrollbars pane-scrollbars-position pane-scrollbars-style
    pane-status-current-style pane-status-style popup-border-lines popup-border-style popup-style remain-on-exit
    remain-on-exit-format scroll-on-clear=on session-status-current-style session-status-style synchronize-panes=off
    tiled-layout-max-columns=0 tree-mode-preview-format tree-mode-preview-style window-active-style
    window-pane-current-status-format window-pane-status-format window-size=latest window-status-activity-style
    window-status-bell-style window-status-current-format window-status-current-style window-status-format
    window-status-last-style window-status-separator window-status-style window-style wrap-search=on xterm-keys=on`,
};

const notices = `alert-activity alert-bell alert-silence client-active client-attached client-detached client-focus-in
  client-focus-out client-resized client-session-changed client-light-theme client-dark-theme command-error session-closed
  session-created session-renamed session-window-changed window-linked window-unlinked pane-died pane-exited pane-focus-in
  pane-focus-out pane-mode-changed pane-set-clipboard pane-title-changed window-layout-changed window-pane-changed
  window-renamed window-resized`;

const words = (text: string): readonly string[] => text.split(/\s+/);
const hooks: ReadonlySet<string> = new Set(words(notices));
const windowHook = /^(pane-|window-(layout|pane|renamed|resized))/;

export interface KnownOption {
  readonly scope: OptionScope;
  readonly fallback: string;
}

const known: ReadonlyMap<string, KnownOption> = new Map(
  (Object.keys(tables) as OptionScope[]).flatMap((scope) =>
    words(tables[scope]).map((word): [string, KnownOption] => {
      const [name = '', fallback = ''] = word.split('=');
      return [name, { scope, fallback }];
    }),
  ),
);

export function isHook(name: string): boolean {
  return /^after-[a-z-]+$/.test(name) || hooks.has(name);
}

/** What is known of an option or hook; nothing for a user's own (`@name`), undefined when tmux has no such option. */
export function knownOption(name: string): KnownOption | undefined {
  if (isHook(name)) return { scope: windowHook.test(name) ? 'window' : 'session', fallback: '' };
  return known.get(name);
}
