/** A call that waits for the user, with everything it would do. */
export interface Approval {
  readonly id: string;
  readonly kind: string;
  /** The pane that would be acted on. */
  readonly paneId?: string;
  /** Program and arguments that would be started. */
  readonly command?: readonly string[];
  readonly cwd?: string;
  /** Names of the variables it would be given. */
  readonly env?: readonly string[];
  /** What would be typed, or the other parameters as JSON. */
  readonly text?: string;
  readonly reason: string;
  /** Who asks. */
  readonly by?: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

export type Decision = 'allow' | 'deny';
