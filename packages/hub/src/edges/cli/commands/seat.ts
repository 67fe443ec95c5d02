import type { FloorSession } from '@polyphony/protocol';
import { type Command, command } from '../command.ts';
import { text, toggle, wholeNumber } from '../flag.ts';
import type { Output } from '../output.ts';
import { revealedLine } from '../revealed.ts';

const project = text('Project of the session, where more than one has a session of that name.', {
  value: 'NAME',
});

export const seatCommands: readonly Command[] = [
  command({
    name: 'claim',
    summary: 'Takes the seat of a session, so that you alone type there; in a pane of its own when left out.',
    args: ['[session]'],
    flags: {
      project,
      takeover: toggle('Ask whoever has it, and wait for the answer; an agent gives way to people.'),
    },
    examples: ['poly claim s-7a3f', 'poly claim s-7a3f --takeover'],
    async run({ args: [session], flags, hub, out, json }) {
      const claimed = await hub.call('floor:claim', {
        ...choiceOf(session, flags.project),
        ...(flags.takeover && { takeover: true }),
      });
      if (json) return out.json(claimed);
      const before = claimed.before === undefined ? '' : ` from ${claimed.before}`;
      out.line(
        claimed.status === 'again'
          ? `You have the seat of ${placeOf(claimed.session, out)} still.`
          : `You have the seat of ${placeOf(claimed.session, out)}${before}.`,
      );
      if (claimed.status === 'claimed') showDigest(claimed.digest, out);
      out.note(
        `poly: it is yours until ${claimed.lease_until}, and longer while you go on. Its fence is ${claimed.fence}.`,
      );
    },
  }),
  command({
    name: 'floor digest',
    summary: 'Shows what happened in a session since you last drove it, as a new driver hears it.',
    args: ['[session]'],
    flags: { project },
    examples: ['poly floor digest s-7a3f'],
    async run({ args: [session], flags, hub, out, json }) {
      const told = await hub.call('floor:digest', { ...choiceOf(session, flags.project) });
      if (json) return out.json(told);
      showDigest(told.digest, out);
    },
  }),
  command({
    name: 'handoff',
    summary: 'Gives the seat of a session to somebody, or leaves it open.',
    args: ['[session]'],
    flags: {
      project,
      to: text('A person or an agent of the project; nobody when left out.', { value: '@NAME' }),
      fence: wholeNumber('The hold that you mean, as claiming answered it.', { least: 1 }),
    },
    examples: ['poly handoff s-7a3f', 'poly handoff s-7a3f --to @ada'],
    async run({ args: [session], flags, hub, out, json }) {
      const { to, fence } = flags;
      const handed = await hub.call('floor:handoff', {
        ...choiceOf(session, flags.project),
        ...(to !== undefined && { to }),
        ...(fence !== undefined && { fence }),
      });
      if (json) return out.json(handed);
      const place = placeOf(handed.session, out);
      out.line(
        handed.status === 'open'
          ? `The seat of ${place} is open.`
          : `${handed.session.driver} has the seat of ${place}.`,
      );
    },
  }),
  command({
    name: 'advise',
    summary: 'Says something to the agent of a session as information marked as yours, or to @somebody.',
    args: ['<session>', '<text>'],
    flags: { project, driver: toggle('Only to who drives, who may say it on.') },
    examples: ['poly advise s-7a3f "The tests need a database."', 'poly advise @dean "Which index is slow?"'],
    async run({ args: [place = '', words = ''], flags, hub, out, json }) {
      const isNamed = place.startsWith('@');
      const advised = await hub.call('floor:advise', {
        ...choiceOf(isNamed ? undefined : place, flags.project),
        text: isNamed ? `${place} ${words}` : words,
        ...(flags.driver && { to: 'driver' as const }),
      });
      if (json) return out.json(advised);
      out.line(advised.message_id);
      out.note(
        `poly: it is on its way to ${advised.to}; poly mail status ${advised.message_id} tells how far it is.`,
      );
    },
  }),
];

const choiceOf = (session: string | undefined, project: string | undefined) => ({
  ...(session !== undefined && { session }),
  ...(project !== undefined && { project }),
});

const placeOf = ({ project, slug }: FloorSession, out: Output): string =>
  out.paint('cyan', `${project}/${slug}`);

/** It holds words of programs and of others: nothing of it is for the terminal to obey. */
function showDigest(digest: string, out: Output): void {
  for (const line of digest.split('\n')) out.line(revealedLine(line));
}
