import type { Participant } from '@polyphony/protocol';
import type { EventLog } from '../events/event-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import type { Caller } from '../registry/caller.ts';
import type { Store } from '../store/store.ts';
import { Annotations } from './annotations.ts';
import type { AgentIn } from './feed.ts';
import { Forgetting } from './forgetting.ts';
import type { ProjectBook } from './project-book.ts';
import { Projects } from './projects.ts';
import { Sessions } from './sessions.ts';
import { SetBack } from './set-back.ts';
import type { KnownMember } from './team.ts';
import { CaptureStory } from './timeline/capture-story.ts';
import { Recorder } from './timeline/recorder.ts';
import { type ReadEvent, Records } from './timeline/records.ts';
import { Timeline } from './timeline/timeline.ts';

export interface FloorOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly random: Random;
  readonly user: Participant;
  readonly book: ProjectBook;
  readonly agentIn: AgentIn;
  /** How long a driver who does nothing keeps the seat. */
  readonly seatMs: number;
  readonly readEvent: ReadEvent;
  /** Whether a prompt is one that the hub has typed, and no person. */
  readonly isOurs: (prompt: string) => boolean;
  /** Makes secrets unreadable. */
  readonly redact: (text: string) => string;
  /** Whom others know of. */
  readonly knownMembers: () => readonly KnownMember[];
  /** The one project that somebody is kept to. */
  readonly confinedTo: (caller: Caller) => string | undefined;
  /** The session that a named agent has in the project of that key. */
  readonly sessionOf: (participant: string, project: string) => string | undefined;
}

/** Everything the floor consists of. */
export interface Floor
  extends Pick<FloorOptions, 'store' | 'book' | 'knownMembers' | 'confinedTo' | 'sessionOf'> {
  readonly projects: Projects;
  readonly sessions: Sessions;
  readonly recorder: Recorder;
  readonly story: CaptureStory;
  readonly timeline: Timeline;
  readonly records: Records;
  readonly annotations: Annotations;
  readonly forgetting: Forgetting;
}

export function createFloor(options: FloorOptions): Floor {
  const { store, events, clock, random, book, user, redact, knownMembers, confinedTo, sessionOf } = options;
  const shownAs = (project: string): string => book.shownAs(project);
  const recorder = new Recorder({ clock, random, redact });
  const projects = new Projects({ store, clock, book });
  const sessions = new Sessions({ ...options, projects, recorder });
  const setBack = new SetBack(options);
  const story = new CaptureStory({ ...options, recorder, setBack, hub: { participant: user } });
  const timeline = new Timeline({ store, shownAs });
  return {
    ...{ store, book, knownMembers, confinedTo, sessionOf, projects, sessions, recorder, story, timeline },
    records: new Records({ ...options, recorder, story }),
    annotations: new Annotations({ store, clock, random, timeline, redact, shownAs }),
    forgetting: new Forgetting({ store, events, clock, projects, sessions }),
  };
}
