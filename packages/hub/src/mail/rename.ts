import { foldName, type MailRenameResult, PolyError } from '@polyphony/protocol';
import { draft } from '../events/event-log.ts';
import type { Turns } from '../platform/turns.ts';
import type { ProjectNames } from '../registry/project-names.ts';
import { type AgentBook, keepAgent } from './agent-book.ts';
import { type AgentRecord, participantOfAgent } from './agent-record.ts';
import type { Asked } from './asked.ts';
import { refuseReserved } from './reserved-name.ts';

interface Names {
  readonly book: AgentBook;
  readonly names: Pick<ProjectNames, 'shownAs'>;
  /** Of those who want a name, by {@link nameTurn}. */
  readonly turns: Turns;
  readonly onRenamed: (record: AgentRecord) => void;
}

const mostFormerNames = 20;

/** What somebody who wants a name waits for. */
export const nameTurn = (project: string, name: string): string => `${foldName(project)}\n${name}`;

/** Calls an agent otherwise. Everything else of it stays, since all of it hangs on its id. */
export function renameAgent(
  { book, names, turns, onRenamed }: Names,
  { id, project, name: before }: AgentRecord,
  given: string,
  { caller, commit }: Asked,
): Promise<MailRenameResult> {
  const name = foldName(given);
  const shown = names.shownAs(project);
  refuseReserved('name', name);
  // In one order, so that two who want each other's name do not wait for each other.
  const [first = '', second = ''] = [nameTurn(project, before), nameTurn(project, name)].sort();
  const rename = async (): Promise<MailRenameResult> => {
    const record = book.get(id);
    const holder = book.find(project, name);
    if (record?.name !== before)
      throw new PolyError('conflict', `"${before}" in the project "${shown}" has just got another name.`, {
        hint: 'Look who is there: poly mail agents',
      });
    if (holder && holder.id !== id)
      throw new PolyError('conflict', `"${name}" in the project "${shown}" is held by ${holder.id}.`, {
        hint: 'Take another name.',
        details: { reason: 'agent_id_collision', agent_id: holder.id },
      });
    const renamed: AgentRecord = {
      ...{ ...record, name },
      formerNames: [before, ...(record.formerNames ?? []).filter((one) => one !== name)].slice(
        0,
        mostFormerNames,
      ),
    };
    const result: MailRenameResult = {
      ...{ agent_id: id, name, before, project: shown, team: shown },
      participant: participantOfAgent(renamed),
    };
    if (holder) return result;
    await commit({
      statements: [keepAgent(renamed)],
      drafts: [draft(caller, 'mail:renamed', { agentId: id, name, before, project })],
      result,
    });
    book.put(renamed);
    onRenamed(renamed);
    return result;
  };
  return first === second ? turns.take(first, rename) : turns.take(first, () => turns.take(second, rename));
}
