/** How the names of the options begin that belong to windows and panes, in all versions from 3.2 to 3.8. */
const beginnings = [
  'aggressive-', 'allow-', 'alternate-', 'automatic-', 'clock-', 'copy-mode-', 'cursor-', 'fill-', 'main-pane-', 'menu-',
  'mode-', 'monitor-', 'other-pane-', 'pane-', 'popup-', 'remain-', 'scroll-', 'session-status-', 'switch-mode-',
  'synchronize-', 'tiled-', 'tree-mode-', 'window-', 'wrap-', 'xterm-',
]; // biome-ignore format: a table

/**
 * Whether an option belongs to windows. A session cannot hold one: given with a session, tmux sets it for the window
 * that happens to be current, so a workspace sets it for each of its windows.
 */
export function isWindowOption(name: string): boolean {
  return beginnings.some((beginning) => name.startsWith(beginning));
}
