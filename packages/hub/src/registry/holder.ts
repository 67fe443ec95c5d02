import type { Participant, ProjectChoice } from '@polyphony/protocol';
import type { Source } from '../events/event-log.ts';
import type { Caller } from './caller.ts';

/** Somebody who can hold something: an agent that has registered, the program of a pane, or the user. */
export interface Holder {
  /** An agent's id, the digest of a pane's credential, or the user's participant id. */
  readonly key: string;
  /** All it may be known by: an agent also has what its pane took before it registered. */
  readonly keys: readonly string[];
  readonly participant: Participant;
  readonly isUser: boolean;
  /** With whose end it ends. */
  readonly pane: string | null;
  /** The folder it works in, where that is known; an agent says so itself. */
  readonly folder?: string | undefined;
  /** The folder it may have files read in, which somebody else says: its pane, or the user who let it register. */
  readonly reach?: string | undefined;
  /** The project it has registered in. */
  readonly project?: string | undefined;
  readonly source: Source;
}

/** Who somebody is to those who hand out work; mail knows the agents. */
export interface Holders {
  of(caller: Caller): Holder;
  /** The agent of that name in a project, if there is one. */
  find(project: string, name: string): Holder | undefined;
  /** The same; throws where there is none. */
  named(project: string, name: string): Holder;
  /** The person or agent of that name, with or without @; throws with who there is where nobody is, or more than one. */
  anyone(project: string | undefined, name: string): Holder;
  /** The project that is meant: the one named, else that of the agent, else that of the folder it works in. */
  projectOf(holder: Holder, choice: ProjectChoice): string;
  /** What a project is called now. */
  shownAs(project: string): string;
}
