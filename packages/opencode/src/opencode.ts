/** The part of OpenCode's plugin interface that is used here, as of 1.18.33. */
export interface PluginInput {
  readonly client: OpenCodeClient;
  readonly directory: string;
  /** The root of the repository; `/` where there is none. */
  readonly worktree: string;
}

export interface Hooks {
  readonly tool: Readonly<Record<string, ToolDefinition>>;
  config(config: OpenCodeConfig): Promise<void>;
  event(input: { readonly event: OpenCodeEvent }): Promise<void>;
  'chat.message'(
    input: { readonly sessionID: string },
    output: {
      readonly parts: readonly {
        readonly type: string;
        readonly text?: string;
        readonly synthetic?: boolean;
      }[];
    },
  ): Promise<void>;
  'tool.execute.before'(
    input: { readonly tool: string; readonly sessionID: string; readonly callID: string },
    output: { readonly args: unknown },
  ): Promise<void>;
  'tool.execute.after'(
    input: { readonly tool: string; readonly sessionID: string; readonly callID: string },
    output: { readonly output?: unknown },
  ): Promise<void>;
  'command.execute.before'(
    input: { readonly command: string; readonly sessionID: string },
    output: { parts: readonly unknown[] },
  ): Promise<void>;
  dispose(): Promise<void>;
}

export interface ToolDefinition {
  readonly description: string;
  /** The arguments by name, as zod schemas; OpenCode shows them to the model and checks nothing. */
  readonly args: Readonly<Record<string, unknown>>;
  execute(args: Record<string, unknown>, context: ToolContext): Promise<string>;
}

export interface ToolContext {
  readonly sessionID: string;
  readonly directory: string;
  readonly worktree: string;
  /** Fires after every turn too, long after the tool has answered. */
  readonly abort: AbortSignal;
  /** Resolves when the rules or the user allow every pattern, and rejects otherwise. */
  ask(request: PermissionRequest): Promise<void>;
}

export interface PermissionRequest {
  readonly permission: string;
  readonly patterns: readonly string[];
  /** What "always" would allow from then on. */
  readonly always: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface OpenCodeConfig {
  command?: Record<string, { readonly template: string; readonly description: string }>;
}

export interface OpenCodeEvent {
  readonly type: string;
  readonly properties: {
    readonly sessionID?: string;
    readonly status?: { readonly type?: string; readonly message?: string; readonly next?: number };
    readonly info?: {
      readonly id?: string;
      readonly parentID?: string;
      /** Which of its agents a session runs. */
      readonly agent?: string;
      /** Of a message. */
      readonly role?: string;
      readonly sessionID?: string;
      readonly time?: { readonly completed?: number };
      readonly error?: unknown;
    };
    /** A piece of a message, which has an end once it is whole. */
    readonly part?: {
      readonly id?: string;
      readonly type?: string;
      readonly text?: string;
      readonly sessionID?: string;
      readonly messageID?: string;
      readonly time?: { readonly end?: number };
    };
    readonly error?: { readonly name?: string; readonly data?: { readonly message?: string } };
    /** What it asks for a permission, and which question a reply is to. */
    readonly id?: string;
    readonly requestID?: string;
    readonly permission?: string;
    readonly patterns?: readonly string[];
    readonly metadata?: Readonly<Record<string, unknown>>;
    readonly questions?: readonly {
      readonly question?: string;
      readonly options?: readonly { readonly label?: string }[];
    }[];
  };
}

interface Answer<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response?: { readonly status: number };
}

interface OnSession {
  readonly path: { readonly id: string };
}

interface SessionInfo {
  readonly agent?: string;
  readonly model?: { readonly id: string; readonly providerID: string; readonly variant?: string };
}

interface MessageInfo {
  readonly info: {
    readonly id: string;
    readonly role: string;
    readonly parentID?: string;
    readonly time: { readonly created: number };
  };
}

interface PromptBody {
  readonly messageID?: string;
  readonly agent?: string | undefined;
  readonly model?: { readonly providerID: string; readonly modelID: string } | undefined;
  readonly variant?: string | undefined;
  readonly noReply?: boolean;
  readonly parts: readonly {
    readonly id?: string;
    readonly type: 'text';
    readonly text: string;
    /** Seen by the user and not by the model. */
    readonly ignored?: boolean;
  }[];
}

export interface OpenCodeClient {
  readonly session: {
    get(options: OnSession): Promise<Answer<SessionInfo>>;
    messages(options: OnSession): Promise<Answer<readonly MessageInfo[]>>;
    status(): Promise<Answer<Readonly<Record<string, { readonly type: string }>>>>;
    prompt(options: OnSession & { readonly body: PromptBody }): Promise<Answer<unknown>>;
    promptAsync(options: OnSession & { readonly body: PromptBody }): Promise<Answer<unknown>>;
  };
}
