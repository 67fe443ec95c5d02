import type { Hooks, PluginInput } from './opencode.ts';
import { createPlugin } from './plugin.ts';

/** Polyphony's terminals as a plugin of OpenCode, which takes every export of this file for a plugin. */
export default async function polyphony(input: PluginInput): Promise<Hooks> {
  return createPlugin(input);
}
