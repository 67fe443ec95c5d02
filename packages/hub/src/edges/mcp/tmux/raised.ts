/**
 * Options of tmux whose value it runs, that give new programs other variables, that end sessions, or that name a file
 * it writes. tmux takes every beginning of a name that is like no other, so a beginning counts as the whole.
 */
const dangerous = [
  'default-command', 'default-client-command', 'default-shell', 'lock-command', 'lock-after-time', 'editor',
  'copy-command', 'command-alias', 'update-environment', 'destroy-unattached', 'exit-unattached', 'exit-empty',
  'history-file',
]; // biome-ignore format: a list

/** Hooks are options too, and every tmux brings new ones: what begins like a hook is one, unless it is known not to be. */
const hookLike = /^(after|alert|client|command|pane|session|window)(-|$)/;
const knownOption =
  /^(pane-(active-|base-|border-|colours|scrollbars|status)|window-(active-|size|status-|style))/;
const hookStarts = ['after-', 'alert-', 'client-', 'command-', 'pane-', 'session-', 'window-'];

/** Why setting an option is more than a setting, if it is. */
export function raisedByOption(option: string, value: string | undefined): string | undefined {
  const name = option.replace(/\[.*$/s, '');
  const isHook =
    (hookLike.test(name) && !knownOption.test(name)) || hookStarts.some((hook) => hook.startsWith(name));
  if (isHook || dangerous.some((one) => one.startsWith(name)))
    return `the option ${name} makes tmux run something, change what programs get, or end sessions`;
  return value === undefined ? undefined : raisedByFormat(value);
}

/** Why a format is more than a text, if it is: `#(…)` runs a shell, and there are many ways to write one inside others. */
export function raisedByFormat(format: string): string | undefined {
  const rest = format.replace(/#\{@?[A-Za-z][A-Za-z0-9_-]*\}/g, '');
  return rest.includes('#') ? 'a format with anything but plain #{field} can run a program' : undefined;
}

/** Why starting something with words or variables of the caller's own is more than opening a shell. */
export function raisedByStart(given: {
  readonly shell?: string | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
}): string | undefined {
  if (given.shell !== undefined) return 'it runs a command of a shell';
  const names = Object.keys(given.environment ?? {});
  return names.length > 0
    ? `it gives programs other variables (${names.join(', ').slice(0, 80)})`
    : undefined;
}
