import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import type { TranscriptKind } from './transcript.ts';

/** By the word that a capture hook is started with. */
export const transcriptKinds: Readonly<Record<string, TranscriptKind>> = { claude, codex, gemini, opencode };
