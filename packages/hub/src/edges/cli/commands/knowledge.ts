import { type Command, command } from '../command.ts';
import { text, wholeNumber } from '../flag.ts';
import { revealedLine } from '../revealed.ts';
import { standardInput } from '../standard-input.ts';

const about = `Files that you keep for agents to know, in the folder knowledge of POLY_HOME: for everybody, or for one project.
Agents read them by the tools floor_knowledge and floor_knowledge_read, and change nothing.`;

const project = text('Of this project alone.', { value: 'PROJECT' });

export const knowledgeCommands: readonly Command[] = [
  command({
    name: 'knowledge list',
    about,
    summary: 'Lists the files for everybody, and those of a project.',
    flags: { project: text('Also those of this project.', { value: 'PROJECT' }) },
    examples: ['poly knowledge list', 'poly knowledge list --project shop'],
    async run({ flags, hub, out, json }) {
      const { files } = await hub.call('floor:knowledge', { ...flags });
      if (json) return out.json(files);
      if (files.length === 0)
        return out.note('Nothing is kept yet. poly knowledge write PATH < FILE keeps a file.');
      out.table(
        files.map((one) => [out.paint('cyan', one.path), String(one.bytes), one.project ?? 'everybody']),
      );
    },
  }),
  command({
    name: 'knowledge read',
    summary: 'Prints a file: that of the project, else that for everybody.',
    args: ['<path>'],
    flags: {
      project: text('Of this project where it has one.', { value: 'PROJECT' }),
      from: wholeNumber('From this byte on.'),
    },
    examples: ['poly knowledge read sql/style.md --project shop'],
    async run({ args: [path = ''], flags, hub, out, json }) {
      const piece = await hub.call('floor:knowledge-read', { path, ...flags, max_bytes: 65_536 });
      if (json) return out.json(piece);
      const lines = piece.text.split('\n');
      out.bytes(out.isTerminal ? lines.map(revealedLine).join('\n') : piece.text);
      if (piece.next !== undefined) out.note(`There is more: --from ${piece.next}`);
    },
  }),
  command({
    name: 'knowledge write',
    summary: 'Keeps what standard input says as a file for agents to know.',
    args: ['<path>'],
    flags: { project },
    examples: [
      'poly knowledge write sql/style.md < style.md',
      'poly knowledge write plan.md --project shop < plan.md',
    ],
    async run({ args: [path = ''], flags, hub, out, json }) {
      const kept = await hub.call('floor:knowledge-write', { path, ...flags, text: await standardInput() });
      if (json) return out.json(kept);
      out.line(`${kept.path}: ${kept.bytes} bytes for ${kept.project ?? 'everybody'}.`);
    },
  }),
  command({
    name: 'knowledge remove',
    summary: 'Deletes a file of knowledge.',
    args: ['<path>'],
    flags: { project },
    examples: ['poly knowledge remove sql/style.md'],
    async run({ args: [path = ''], flags, hub, out, json }) {
      const gone = await hub.call('floor:knowledge-remove', { path, ...flags });
      if (json) return out.json(gone);
      out.line(`${gone.path} is deleted.`);
    },
  }),
];
