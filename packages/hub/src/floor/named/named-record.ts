import {
  type AgentHosting,
  type AgentMember,
  type AgentWatch,
  type MemberState,
  type NamedAgent,
  participantOf,
} from '@polyphony/protocol';
import type { Statement } from '../../store/store.ts';
import { isoTime } from '../session-row.ts';

/** A named agent as it is stored. */
export interface NamedRecord {
  readonly name: string;
  readonly displayName: string;
  readonly icon?: string | undefined;
  readonly description?: string | undefined;
  readonly skills: readonly string[];
  readonly tags: readonly string[];
  readonly hosting: AgentHosting;
  readonly command?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly budget: number;
  readonly isolated: boolean;
  readonly drives: boolean;
  readonly watch?: AgentWatch | undefined;
  readonly createdBy: string;
  readonly createdAt: number;
}

/** That a named agent is a member of a project, and how it stands with it there, as it is stored. */
export interface MemberRow {
  readonly agent: string;
  /** The key of the project. */
  readonly project: string;
  readonly session: string;
  readonly slug: string;
  readonly how: AgentMember['how'];
  /** Where the hub runs it; written down before it does, so that it is never run twice. */
  readonly pane: string | null;
  readonly state: MemberState;
  readonly reason: string | null;
  readonly restarts: number;
  readonly started_at: number | null;
  readonly next_at: number | null;
  /** The last entry of a timeline that it was told of, or need not be. */
  readonly watched: number;
  readonly since: number;
}

/** Whose sub-agent somebody is by its name: `dean` of `dean.sql`. */
export const parentOf = (name: string): string | undefined =>
  name.includes('.') ? name.slice(0, name.lastIndexOf('.')) : undefined;

export const keepNamed = (record: NamedRecord): Statement => ({
  sql: `INSERT INTO named_agents (name, record) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET record = excluded.record`,
  values: [record.name, JSON.stringify(record)],
});

const columns = [
  ...['agent', 'project', 'session', 'slug', 'how', 'pane', 'state', 'reason'],
  ...['restarts', 'started_at', 'next_at', 'watched', 'since'],
] as readonly (keyof MemberRow)[];

/** What it was told of is written down by who tells it. */
const changing = columns.filter((name) => name !== 'watched');

export const keepMember = (row: MemberRow): Statement => ({
  sql: `INSERT INTO named_members (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
    ON CONFLICT (agent, project) DO UPDATE SET ${changing.map((name) => `${name} = excluded.${name}`).join(', ')}`,
  values: columns.map((name) => row[name]),
});

export const dropMember = ({ agent, project }: Pick<MemberRow, 'agent' | 'project'>): Statement => ({
  sql: 'DELETE FROM named_members WHERE agent = ? AND project = ?',
  values: [agent, project],
});

/** What is known beside the record. */
export interface NamedAbout {
  readonly shownAs: string;
  readonly subagents: readonly string[];
  readonly members: readonly AgentMember[];
  /** For the user alone. */
  readonly secrets?: readonly string[] | undefined;
}

export function namedAgentOf(record: NamedRecord, about: NamedAbout): NamedAgent {
  const { name, displayName, icon, description, skills, tags, hosting, budget, isolated, drives } = record;
  const { watch, command, cwd } = record;
  const parent = parentOf(name);
  const { shownAs: shown_as, subagents, members, secrets } = about;
  return {
    ...{ name, participant: participantOf('agent', name), display_name: displayName, shown_as },
    ...(icon !== undefined && { icon }),
    ...(description !== undefined && { description }),
    ...{ skills, tags, hosting, ...(parent !== undefined && { parent }), subagents },
    ...{ budget, isolated, drives, ...(watch && { watch }), members },
    ...{ created_by: record.createdBy, created_at: isoTime(record.createdAt) },
    ...(secrets && { secrets, ...(command && { command }), ...(cwd !== undefined && { cwd }) }),
  };
}

export interface MemberAbout {
  readonly project: string;
  readonly state: MemberState;
  readonly throttledUntil: number | undefined;
  readonly seesPanes: boolean;
}

export function memberOf(row: MemberRow, about: MemberAbout): AgentMember {
  const { session, slug, how, pane, reason, restarts, next_at, since } = row;
  const { project, state, throttledUntil, seesPanes } = about;
  return {
    ...{ project, project_key: row.project, session_id: session, session: slug, how, state },
    ...(reason !== null && { reason }),
    ...(pane !== null && seesPanes && { pane }),
    ...(restarts > 0 && { restarts }),
    ...(next_at !== null && { next_at: isoTime(next_at) }),
    ...(throttledUntil !== undefined && { throttled_until: isoTime(throttledUntil) }),
    since: isoTime(since),
  };
}
