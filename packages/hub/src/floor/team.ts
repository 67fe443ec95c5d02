import type { TeamMember } from '@polyphony/protocol';
import type { Store } from '../store/store.ts';

/** Somebody that others know of; what they do on the floor is added here. */
export type KnownMember = Omit<TeamMember, 'sessions' | 'projects'> & {
  /** Keys of projects. */
  readonly projects: readonly string[];
};

interface Taking {
  readonly project: string;
  readonly slug: string;
  readonly driver: string | null;
  readonly agent: string | null;
}

const mostSessions = 20;

/** People and agents in one list: who is known, and whoever drives a session or speaks in one. */
export async function teamOf(
  store: Store,
  project: string | undefined,
  known: readonly KnownMember[],
  shownAs: (project: string) => string,
): Promise<readonly TeamMember[]> {
  const rows = await store.query<Taking>(
    `SELECT project, slug, driver, agent FROM floor_sessions WHERE archived_at IS NULL
      ${project === undefined ? '' : 'AND project = ?'} ORDER BY active_at DESC LIMIT 1000`,
    project === undefined ? [] : [project],
  );
  const members = new Map<string, KnownMember>();
  for (const one of known) {
    const before = members.get(one.participant);
    const projects = [...new Set([...(before?.projects ?? []), ...one.projects])];
    // Somebody who is in several projects is alive where one of its programs is.
    const isAlive = [before, one].some((known) => known?.liveness === 'alive');
    members.set(one.participant, { ...before, ...one, projects, ...(isAlive && { liveness: 'alive' }) });
  }
  for (const { driver, agent } of rows)
    for (const participant of [driver, agent])
      if (participant !== null && !members.has(participant)) members.set(participant, stranger(participant));
  return [...members.values()]
    .map((one): TeamMember => {
      const takes = rows.filter(({ driver, agent }) => [driver, agent].includes(one.participant));
      const projects = new Set([...one.projects, ...takes.map((row) => row.project)]);
      return {
        ...one,
        projects: [...projects].map(shownAs),
        sessions: takes.slice(0, mostSessions).map(({ project, slug }) => `${shownAs(project)}/${slug}`),
      };
    })
    .filter(
      ({ kind, projects }) =>
        project === undefined || kind === 'person' || projects.includes(shownAs(project)),
    )
    .toSorted((a, b) =>
      a.kind === b.kind ? (a.participant < b.participant ? -1 : 1) : a.kind === 'person' ? -1 : 1,
    );
}

function stranger(participant: string): KnownMember {
  const name = participant.slice(participant.indexOf(':') + 1);
  return { participant, kind: participant.startsWith('agent:') ? 'agent' : 'person', name, projects: [] };
}
