/** How much a message matters to its sender. */
export const importances = ['low', 'normal', 'high', 'urgent'] as const;
export type Importance = (typeof importances)[number];
