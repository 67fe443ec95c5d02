import {
  type Annotation,
  type FloorChanges,
  PolyError,
  type TimelineEntry,
  type TimelineKind,
  timelineKinds,
} from '@polyphony/protocol';
import { age } from '../age.ts';
import { type Command, command } from '../command.ts';
import { exportFormats, exportSession } from '../export-timeline.ts';
import { choice, text, toggle, wholeNumber } from '../flag.ts';
import { type Output, shown } from '../output.ts';
import { revealedLine } from '../revealed.ts';
import { showEntry } from '../show-timeline.ts';

const project = text('The project; needed where several have a session of that name.', { value: 'PROJECT' });
const limit = (most: number, otherwise: number) =>
  wholeNumber(`At most so many; ${otherwise} when left out.`, { least: 1, most });

export const timelineCommands: readonly Command[] = [
  command({
    name: 'floor timeline',
    summary: 'Shows what happened in a session, the newest last.',
    args: ['<session>'],
    flags: {
      project,
      limit: limit(500, 100),
      before: text('Only what happened before a page: its next_before.', { value: 'CURSOR' }),
      after: text('Only what happened behind a page: its next_after.', { value: 'CURSOR' }),
      kinds: text(`Only these: ${timelineKinds.join(', ')}.`, { value: 'A,B' }),
      whole: toggle('Every line of long texts.'),
      follow: toggle('Go on with what happens.', { short: 'f' }),
    },
    examples: ['poly floor timeline s-7a3f', 'poly floor timeline s-7a3f --kinds prompt,answer --limit 20'],
    async run({ args: [session = ''], flags, env, hub, out, json }) {
      const { kinds, whole, follow, ...more } = flags;
      const only = kinds?.split(',').filter((word) => word !== '') as readonly TimelineKind[] | undefined;
      const page = await hub.call('floor:timeline', { session, ...more, ...(only && { kinds: only }) });
      const show = (entry: TimelineEntry): void =>
        json ? out.line(JSON.stringify(entry)) : showEntry(entry, out, { whole: whole === true });
      if (json && !follow) return out.json(page);
      page.entries.forEach(show);
      if (follow) {
        const { followTimeline } = await import('../follow-timeline.ts');
        const found = await hub.call('floor:session', { session, project: flags.project });
        return followTimeline({ env, out }, found, page.last_seq, only, show);
      }
      if (page.entries.length === 0) out.note('Nothing has happened there yet.');
      if (page.next_before !== undefined) out.note(`Earlier: --before ${page.next_before}`);
    },
  }),
  command({
    name: 'floor entry',
    summary: 'Shows one entry, with everything that the coding agent told.',
    args: ['<entry>'],
    examples: ['poly floor entry ent_0123456789abcdef --json'],
    async run({ args: [entry = ''], hub, out, json }) {
      const found = await hub.call('floor:entry', { entry });
      if (json) return out.json(found);
      showEntry(found, out, { whole: true });
      if (found.payload !== undefined) out.line(revealedLine(JSON.stringify(found.payload)));
    },
  }),
  command({
    name: 'floor search',
    summary: 'Finds what happened by its words; a word may end in *.',
    args: ['<words…>'],
    flags: {
      project: text('Only there.', { value: 'PROJECT' }),
      session: text('Only there.', { value: 'SESSION' }),
      sender: text('Only by this participant.', { value: 'PARTICIPANT' }),
      tag: text('Only with this tag.', { value: 'TAG' }),
      limit: limit(100, 20),
    },
    examples: ['poly floor search basket', 'poly floor search "migrat*" users --project shop'],
    async run({ args, flags, hub, out, json }) {
      const found = await hub.call('floor:search', { query: args.join(' '), ...flags });
      if (json) return out.json(found);
      if (found.results.length === 0) return out.note('Nothing has these words.');
      for (const { entry, project: where, slug, snippet } of found.results) {
        const when = `${age(Date.parse(entry.at))} ago`;
        out.line(
          `${out.paint('cyan', `${where}/${slug}`)}  ${entry.sender}  ${entry.kind}  ${out.paint('dim', `${when}, ${entry.entry_id}`)}`,
        );
        out.line(`  ${revealedLine(snippet)}`);
      }
      if (found.has_more) out.note('There is more: say --limit.');
    },
  }),
  command({
    name: 'floor decisions',
    summary: 'Lists what was decided, the newest first.',
    flags: { project: text('Only there.', { value: 'PROJECT' }), limit: limit(200, 50) },
    examples: ['poly floor decisions', 'poly floor decisions --project shop --json'],
    async run({ flags, hub, out, json }) {
      const { decisions } = await hub.call('floor:decisions', { ...flags });
      if (json) return out.json(decisions);
      if (decisions.length === 0)
        return out.note('Nothing is marked as decided: poly floor mark SESSION ENTRY --decision TEXT');
      for (const { project: where, slug, value, entry, by, at } of decisions) {
        const said = value ?? entry?.text ?? '';
        out.line(
          `${out.paint('cyan', `${where}/${slug}`)}  ${shown(said, 300)}  ${out.paint('dim', `${by}, ${age(Date.parse(at))} ago`)}`,
        );
      }
    },
  }),
  command({
    name: 'floor changes',
    summary: 'Says what changed in a session since you last drove it.',
    args: ['<session>'],
    flags: { project, all: toggle('Since its beginning.') },
    examples: ['poly floor changes s-7a3f'],
    async run({ args: [session = ''], flags, hub, out, json }) {
      const asked = { session, ...(flags.project !== undefined && { project: flags.project }) };
      const changes = await hub.call('floor:changes', { ...asked, ...(flags.all && { after_seq: 0 }) });
      if (json) return out.json(changes);
      showChanges(changes, out);
    },
  }),
  command({
    name: 'floor mark',
    summary: 'Stars or tags an entry, or marks what was decided there; without an entry, the session.',
    args: ['<session>', '[entry]'],
    flags: {
      project,
      star: toggle('Star it.'),
      tag: text('Tag it.', { value: 'TAG' }),
      decision: text('Say what was decided.'),
      remove: text('Take an annotation away.', { value: 'ANNOTATION' }),
    },
    examples: [
      'poly floor mark s-7a3f ent_0123456789abcdef --star',
      'poly floor mark s-7a3f ent_0123456789abcdef --decision "Baskets are lists."',
    ],
    async run({ args: [session = '', entry], flags, hub, out, json }) {
      const about = {
        ...{ session, ...(entry !== undefined && { entry }) },
        ...(flags.project !== undefined && { project: flags.project }),
      };
      const { star, tag, decision, remove } = flags;
      const wanted = [
        ...(star ? [{ ...about, kind: 'star' as const }] : []),
        ...(tag === undefined ? [] : [{ ...about, kind: 'tag' as const, value: tag }]),
        ...(decision === undefined ? [] : [{ ...about, kind: 'decision' as const, value: decision }]),
      ];
      if (wanted.length === 0 && remove === undefined)
        throw new PolyError(
          'invalid_arguments',
          'say what to put on it: --star, --tag, --decision or --remove.',
        );
      const made: Annotation[] = [];
      for (const one of wanted) made.push(await hub.call('floor:annotate', { ...one }));
      if (remove !== undefined) await hub.call('floor:unannotate', { annotation: remove });
      if (json) return out.json(made);
      for (const { annotation_id } of made) out.line(annotation_id);
    },
  }),
  command({
    name: 'floor export',
    summary: 'Prints the timeline of a session.',
    args: ['<session>'],
    flags: { project, format: choice('As what; markdown when left out.', exportFormats) },
    examples: ['poly floor export s-7a3f > session.md', 'poly floor export s-7a3f --format json'],
    async run({ args: [session = ''], flags: { format, ...flags }, hub, out, json }) {
      const found = await hub.call('floor:session', { session, ...flags });
      const as = json ? 'json' : format;
      await exportSession(hub, out, found, as);
      if (as === 'json') out.line();
    },
  }),
];

function showChanges(changes: FloorChanges, out: Output): void {
  const { since, drivers, counts, prompts, last_answer, open, failures, decisions, files, links } = changes;
  out.line(since === undefined ? 'From its beginning:' : `Since you last drove, at ${since}:`);
  const counted = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
  out.line(counted.length === 0 ? 'Nothing has happened.' : counted.join(', '));
  if (drivers.length > 0) out.line(`Asked by ${drivers.join(', ')}.`);
  for (const [title, entries] of [
    ['Prompts', prompts],
    ['Answered last', last_answer ? [last_answer] : []],
    ['Waits for an answer', open],
    ['Failed', failures],
    ['Decided', decisions],
  ] as const) {
    if (entries.length === 0) continue;
    out.line(out.paint('bold', title));
    for (const { text, decision } of entries)
      out.line(`  ${shown(title === 'Decided' && decision !== undefined ? decision : text, 200)}`);
  }
  if (files.length > 0) out.line(`${out.paint('bold', 'Files')}  ${files.map(revealedLine).join(', ')}`);
  for (const { kind, value } of links) out.line(`${kind.replace('_', ' ')}  ${revealedLine(value)}`);
}
