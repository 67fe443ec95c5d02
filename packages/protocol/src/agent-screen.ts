// What can be read from the screen of an agent. Loads nothing, so that the command line can have it.

/** That nobody has looked at what is done, or that its process is gone, no screen can tell. */
export const screenStatuses = ['unknown', 'starting', 'idle', 'running', 'blocked', 'error'] as const;
export type ScreenStatus = (typeof screenStatuses)[number];

/** Of the kinds of reasons for which an agent waits, those that a screen can tell. */
export const blockedReasons = ['permission', 'question', 'trust', 'setup', 'menu'] as const;
export type BlockedOn = (typeof blockedReasons)[number];
