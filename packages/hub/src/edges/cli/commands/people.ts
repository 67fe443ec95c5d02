import { PolyError } from '@polyphony/protocol';
import { age } from '../age.ts';
import { type Command, command } from '../command.ts';
import { text } from '../flag.ts';
import { shown } from '../output.ts';

const about = `Other people in the room. Whom you invite opens the page with a name of their own, sees the panes that feed a session,
writes mail, advises, and types where they have the seat. Nobody else does: not your other panes, and nothing that
starts, ends or changes one. The hub listens on this machine only; from another one they come by ssh -L.`;

export const peopleCommands: readonly Command[] = [
  command({
    name: 'people invite',
    about,
    summary: 'Lets a person in: prints an address that opens the page as that person, once, within a day.',
    args: ['<name>'],
    flags: { 'display-name': text('As they are shown to others.', { value: 'NAME' }) },
    examples: ['poly people invite ada', "poly people invite ada --display-name 'Ada Lovelace'"],
    async run({ args: [name = ''], flags, hub, out, json }) {
      const display = flags['display-name'];
      const invited = await hub.call('person:invite', {
        name,
        ...(display !== undefined && { display_name: display }),
      });
      const { person, ticket = '', expires_at } = invited;
      const { pageAddress } = await import('../open-page.ts');
      const address = await pageAddress(hub, ticket);
      if (json) return out.json({ ...invited, address });
      out.line(address);
      out.note(`poly: it lets one browser in as ${person.participant}, once, until ${expires_at}.`);
    },
  }),
  command({
    name: 'people list',
    summary: 'Lists whose hub this is, and who was invited.',
    examples: ['poly people list', 'poly people list --json'],
    async run({ hub, out, json }) {
      const list = await hub.call('person:list', {});
      if (json) return out.json(list);
      out.table([
        [out.paint('cyan', list.user), '', 'whose hub this is'],
        ...list.people.map(({ participant, display_name, invited, came_at }) => [
          out.paint('cyan', participant),
          shown(display_name),
          came_at === undefined
            ? `has not come yet${invited ? '' : '; the invitation has run out'}`
            : `came ${age(Date.parse(came_at))} ago`,
        ]),
      ]);
    },
  }),
  command({
    name: 'people remove',
    summary: 'Takes back what lets a person in, at once; what they said stays.',
    args: ['<name>'],
    examples: ['poly people remove ada'],
    async run({ args: [given = ''], hub, out, json }) {
      const name = given.replace(/^user:/, '');
      if (name === '')
        throw new PolyError('invalid_arguments', 'say whom.', { hint: 'See poly people list.' });
      const removed = await hub.call('person:remove', { name });
      if (json) return out.json(removed);
      out.line(`${removed.participant} is let in no longer.`);
    },
  }),
];
