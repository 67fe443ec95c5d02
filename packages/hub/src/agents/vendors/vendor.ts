export type VendorName = 'claude' | 'codex' | 'opencode' | 'gemini' | 'generic';

export interface Setting {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** How an agent is told, on its command line, what `agent:create` was asked for. */
interface Launch {
  /** Flags it always gets, unless its own command line already has one of `unless`. */
  readonly always?: { readonly argv: readonly string[]; readonly unless: readonly string[] };
  readonly env?: Readonly<Record<string, string>>;
  readonly model?: {
    /** Flags with which the caller may have said it already. */
    readonly own: readonly string[];
    /** What a model's name looks like, and how to say so. */
    readonly pattern: RegExp;
    readonly looks: string;
    readonly argv: (model: string) => readonly string[];
  };
  readonly permissions?: {
    readonly own: readonly string[];
    readonly ask: Setting;
    readonly auto: Setting;
  };
  readonly prompt?: (prompt: string) => readonly string[];
  /** Takes a conversation up again; behind everything else. */
  readonly resume?: (sessionId: string) => readonly string[];
  /** Flags with a value that it does not take then, where it was started with `at`. */
  readonly resumeWithout?: { readonly at: string; readonly flags: readonly string[] };
}

/** How a message is typed at an agent. */
interface Typing {
  /** Whether it marks pastes; without, a message must be one line. */
  readonly bracketedPaste: boolean;
  /** How long its composer needs, after it shows the text, before Enter means submit. */
  readonly pauseMs: number;
  /** An `@` by which it would read a file or open a menu; a backslash before it makes it text. */
  readonly mention?: RegExp;
}

/** Everything Polyphony knows about one vendor's agent, as data; what its screens tell is in files, `screens/`. */
export interface Vendor {
  readonly name: VendorName;
  /** Names of its program. */
  readonly programs: readonly string[];
  /** Names of its npm package, for `npx`. */
  readonly packages: readonly string[];
  /** The variables that say where it keeps its conversations: without them it would not find one again. */
  readonly homes: readonly string[];
  /** Files that it holds open and writes its conversations to: where each is named, and what the others begin with. */
  readonly openFile?: { readonly name: RegExp; readonly unless: RegExp };
  readonly launch: Launch;
  readonly typing: Typing;
}
