import type { Heard } from '../timeline/story.ts';

/** An event as a coding agent has kept it itself. */
interface Kept {
  /** What it calls it: another in the same conversation has another. */
  readonly id: string;
  readonly at: number;
  readonly heard: Heard;
  /** All of it, in the words of its hooks and without secrets; of those that were asked for by their ids. */
  readonly raw: Uint8Array | null;
}

export interface KeptConversation {
  readonly vendor: string;
  readonly conversation: string;
  /** The pane it was in. */
  readonly pane: string | null;
}

/** What coding agents keep of their conversations. */
export interface Transcripts {
  /** Where it lies, and what is wrong there; nothing where there is none. */
  find(of: KeptConversation): Promise<{ readonly path?: string; readonly problem?: string }>;
  /** All that is in it, or those that are wanted whole, in its order; a problem is told with what could be read. */
  read(
    of: KeptConversation,
    path: string,
    wanted?: ReadonlySet<string>,
  ): AsyncIterable<{ readonly events: readonly Kept[]; readonly problem?: string | undefined }>;
}
