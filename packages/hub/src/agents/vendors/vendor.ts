import type { AgentStatus } from '@polyphony/protocol';

export type VendorName = 'claude' | 'codex' | 'opencode' | 'gemini' | 'generic';

/** What an agent waits for a person to answer. `setup` is its own start-up question, `menu` anything it opened. */
export type BlockedOn = 'permission' | 'question' | 'trust' | 'setup' | 'menu';

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

/** Where a sign is looked for: what lies around the composer, the whole screen, or the terminal's title. */
export type Place = 'title' | 'screen' | 'above' | 'footer' | 'title and footer';

interface Sign {
  readonly status: AgentStatus;
  readonly blockedOn?: BlockedOn;
  readonly in: Place;
  readonly pattern: RegExp;
}

/** What the screens of one version look like. */
export interface ScreenTable {
  /** The version whose screens were recorded. */
  readonly version: string;
  /**
   * Matches a whole screen that ends in a composer ready to be typed into, with the groups `draft` and, where
   * they exist, `above`, `footer` and `shell` (the composer runs commands).
   */
  readonly composer: RegExp;
  /** What stands before each line of a draft. */
  readonly margin: RegExp;
  /** What an empty composer shows instead of a draft. */
  readonly placeholder: RegExp;
  /** Shown above the composer while a message waits for the end of a turn. */
  readonly queued: RegExp;
  /** In this order; the first that matches decides. All but `title` and `screen` need a composer. */
  readonly signs: readonly Sign[];
}

/** Everything Polyphony knows about one vendor's agent, as data. */
export interface Vendor {
  readonly name: VendorName;
  /** Names of its program. */
  readonly programs: readonly string[];
  /** Names of its npm package, for `npx`. */
  readonly packages: readonly string[];
  readonly launch: Launch;
  readonly typing: Typing;
  readonly screens: readonly ScreenTable[];
}
