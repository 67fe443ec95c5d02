/** Whose files: those of the user, or those of the folder that poly is called in. */
export const scopes = ['user', 'project'] as const;
export type Scope = (typeof scopes)[number];
