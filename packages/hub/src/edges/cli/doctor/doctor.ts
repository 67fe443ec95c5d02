import { errorKinds } from '@polyphony/protocol';
import type { Call } from '../command.ts';
import { statusOf } from '../start-hub.ts';
import { checks, type Finding } from './checks.ts';

const symbols = { ok: ['green', '●'], warn: ['yellow', '◐'], bad: ['red', '✕'] } as const;

/** Makes every check, whatever the others find; ends with 1 when something is broken, with 6 when no hub runs. */
export async function doctor({
  flags,
  env,
  out,
  json,
  offline,
}: Call & { flags: { readonly security?: boolean } }): Promise<number> {
  const { placesOf } = await import('../../../platform/places.ts');
  const places = placesOf(env);
  const hub = await statusOf(env).catch((error: Error) => error);
  const wanted = checks.filter(
    ({ security = false, numbers = false }) => (security || flags.security !== true) && (json || !numbers),
  );
  const findings = await out.progress(
    'looking',
    Promise.all(
      wanted.map(async ({ name, look }) => {
        try {
          return { name, ...(await look({ env, places, hub, offline })) };
        } catch (error) {
          return { name, state: 'bad', says: String((error as Error).message) } satisfies Finding & {
            name: string;
          };
        }
      }),
    ),
  );
  if (json) out.json(findings);
  else {
    out.table(
      findings.map(({ name, state, says }) => [out.paint(symbols[state][0], symbols[state][1]), name, says]),
    );
    const toMend = findings.filter(({ state, fix }) => state !== 'ok' && fix);
    if (toMend.length > 0) out.line();
    for (const { name, fix } of toMend) out.line(`${name}: ${fix}`);
  }
  if (findings.some(({ state }) => state === 'bad')) return 1;
  return hub === undefined ? errorKinds.unreachable.exit : 0;
}
