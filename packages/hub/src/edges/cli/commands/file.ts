import { type FileClaim, PolyError } from '@polyphony/protocol';
import { type Command, command } from '../command.ts';
import { text, time, toggle } from '../flag.ts';
import { type Output, shown } from '../output.ts';
import { uniqueId } from '../unique-id.ts';

export const fileCommands: readonly Command[] = [
  command({
    name: 'file claim',
    summary: 'Says that you work on files, for a time; tells who else does.',
    args: ['<path…>'],
    flags: {
      shared: toggle('Others may work on them too.'),
      ttl: time('For how long; an hour when left out.', 's', { most: 86_400_000 }),
      reason: text('What for.'),
    },
    completes: 'file',
    examples: [
      "poly file claim 'src/api/**' --ttl 30m --reason 'new routes'",
      'poly file claim docs --shared',
    ],
    async run({ args, flags, hub, out, json }) {
      const claim = await hub.call('file:claim', {
        ...{ root: process.cwd(), paths: args, mode: flags.shared ? 'shared' : 'exclusive' },
        ...(flags.ttl !== undefined && { ttl_s: Math.max(1, Math.ceil(flags.ttl / 1000)) }),
        ...(flags.reason !== undefined && { reason: flags.reason }),
      });
      if (json) return out.json(claim);
      out.line(`${claim.claim_id} is yours until ${claim.until}.`);
      for (const { meets, holder, pattern, mode, until } of claim.conflicts)
        out.note(
          `${shown(meets)} meets ${shown(pattern)} of ${holder} (${mode}, until ${until}), which goes before.`,
        );
    },
  }),
  command({
    name: 'file release',
    summary: 'Ends a claim on files; the user may end any.',
    args: ['[claim]'],
    flags: { all: toggle('All that you hold.') },
    examples: ['poly file release clm_1f3c22aa', 'poly file release --all'],
    async run({ args: [start], flags: { all }, hub, out, json }) {
      if ((start === undefined) === (all !== true))
        throw new PolyError('invalid_arguments', 'name a claim, or say --all.', {
          hint: 'See poly file list.',
        });
      const ids = async (): Promise<readonly string[]> =>
        (await hub.call('file:list', {})).claims.map(({ claim_id }) => claim_id);
      const asked = start === undefined ? { all: true } : { claim_id: uniqueId(start, await ids()) };
      const result = await hub.call('file:release', asked);
      if (json) return out.json(result);
      out.line(result.released.length > 0 ? `Released ${result.released.join(', ')}.` : 'You held nothing.');
    },
  }),
  command({
    name: 'file list',
    summary: 'Lists claims on files in this folder, the oldest first.',
    flags: { all: toggle('In every folder.') },
    examples: ['poly file list', 'poly file list --all --json'],
    async run({ flags: { all }, hub, out, json }) {
      const { claims } = await hub.call('file:list', all ? {} : { root: process.cwd() });
      if (json) return out.json(claims);
      if (claims.length === 0) return out.note('Nobody has claimed files here.');
      out.table(
        claims.map((claim) => rowOf(claim, out)),
        { cut: 4 },
      );
    },
  }),
  command({
    name: 'file guard',
    summary: 'Lets git refuse commits of files that others have claimed; keeps the hook you have.',
    args: ['<install|uninstall|check>'],
    startsHub: false,
    examples: ['poly file guard install', 'POLY_FILE_GUARD=off git commit'],
    async run({ args: [what = ''], hub, env, out, json }) {
      const { installGuard, uninstallGuard, checkCommit } = await import('../file-guard.ts');
      if (what === 'install') return installGuard(out, json);
      if (what === 'uninstall') return uninstallGuard(out, json);
      if (what === 'check') return checkCommit(hub, env, out);
      throw new PolyError(
        'invalid_arguments',
        `file guard takes install, uninstall or check, not "${what}".`,
        { hint: 'See poly file guard --help.' },
      );
    },
  }),
];

function rowOf({ claim_id, mode, holder, until, paths, reason }: FileClaim, out: Output): readonly string[] {
  return [out.paint('cyan', claim_id), mode, holder, until, shown(paths.join(' '), 200), shown(reason ?? '')];
}
