import type { Adapter } from './adapter.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';

/** By the word that a capture hook is started with. */
export const adapters: Readonly<Record<string, Adapter>> = { claude, codex, cursor, gemini, opencode };
