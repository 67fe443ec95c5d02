/** The variables a process was started with. */
export type Env = Readonly<Record<string, string | undefined>>;
