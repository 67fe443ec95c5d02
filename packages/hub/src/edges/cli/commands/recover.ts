import { type FloorRecovered, PolyError, type RecoveredSession } from '@polyphony/protocol';
import { type Command, command } from '../command.ts';
import { text, toggle } from '../flag.ts';
import { type Output, shown } from '../output.ts';

export const recoverCommands: readonly Command[] = [
  command({
    name: 'recover',
    summary: 'Fills in what is missing in timelines, by the journal, the record and what agents have kept.',
    flags: {
      session: text('Only this session.', { value: 'SESSION' }),
      project: text('Only of this project.', { value: 'PROJECT' }),
      pane: text('Only the sessions that this pane has fed.', { value: 'PANE' }),
      all: toggle('Every session, as without any of these.'),
      'dry-run': toggle('Only say what is missing.'),
    },
    examples: ['poly recover', 'poly recover --session s-7a3f --dry-run', 'poly recover --all --json'],
    async run({ flags: { all, 'dry-run': dryRun, ...where }, hub, out, json }) {
      if (all && Object.values(where).some((one) => one !== undefined))
        throw new PolyError('invalid_arguments', '--all was given with a session, a project or a pane.', {
          hint: 'Leave --all out, or the others.',
        });
      const found = await hub.call('floor:recover', { ...where, ...(dryRun && { dry_run: true }) });
      if (json) return out.json(found);
      show(found, out);
    },
  }),
];

function show({ dry_run, journal, looked_at, sessions, restored }: FloorRecovered, out: Output): void {
  const { revived, dead } = journal;
  if (revived > 0)
    out.line(`journal: ${revived} that could not be taken in ${dry_run ? 'can be' : 'were'} now.`);
  for (const { name, why } of dead)
    out.line(`journal: ${shown(name, 80)} cannot be taken in: ${shown(why, 200)}`);
  for (const session of sessions) showSession(session, out);
  const missing = sessions.reduce((sum, one) => sum + one.from_record + one.from_transcripts, 0);
  const where = `${looked_at} ${looked_at === 1 ? 'session' : 'sessions'}`;
  if (missing === 0) out.line(`Nothing is missing in ${where}.`);
  else out.line(dry_run ? `${missing} missing in ${where}.` : `${restored} filled in, in ${where}.`);
}

function showSession(session: RecoveredSession, out: Output): void {
  const { project, slug, from_record, from_transcripts, transcripts } = session;
  const place = out.paint('cyan', `${project}/${slug}`);
  out.line(`${place}: ${from_record} missing from the record, ${from_transcripts} told by no hook.`);
  for (const { vendor, path, problem, events, missing } of transcripts)
    if (path !== undefined && (missing > 0 || problem !== undefined))
      out.line(
        `  ${vendor}: ${missing} of ${events} in ${shown(path, 200)}${problem === undefined ? '' : `; ${shown(problem, 200)}`}`,
      );
}
