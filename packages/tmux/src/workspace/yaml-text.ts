import { stringify } from 'yaml';

/**
 * A workspace value as YAML. Words that only older readers take for something else, like `on` and `yes`, are quoted.
 *
 * @example stringifyWorkspace({ session_name: 'a', windows: [{ panes: ['top'] }] })
 */
export function stringifyWorkspace(workspace: object): string {
  return stringify(workspace, { compat: 'yaml-1.1', lineWidth: 0, nullStr: 'null' });
}
