import type { CaptureKind } from '@polyphony/protocol';
import type { Adapter } from './adapter.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';

/** Whether the hooks of an agent tell of this themselves. */
export function tellsOf(vendor: string, kind: CaptureKind): boolean {
  const rules = Object.values(adapters[vendor]?.events ?? {});
  return rules.some((rule) => rule.kind === kind || rule.where?.some((one) => one.kind === kind));
}

/** By the word that a capture hook is started with. */
export const adapters: Readonly<Record<string, Adapter>> = { claude, codex, cursor, gemini, opencode };
