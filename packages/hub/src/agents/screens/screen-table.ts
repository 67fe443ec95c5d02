import { type BlockedOn, blockedReasons, type ScreenStatus, screenStatuses } from '@polyphony/protocol';
import * as z from 'zod';
import { compareVersions } from './version.ts';

const places = ['title', 'screen', 'above', 'footer', 'title and footer'] as const;

/** Where a sign is looked for: what lies around the composer, the whole screen, or the terminal's title. */
export type Place = (typeof places)[number];

interface Sign {
  readonly status: ScreenStatus;
  readonly blockedOn?: BlockedOn | undefined;
  readonly in: Place;
  readonly pattern: RegExp;
}

/** What the screens of some versions look like: one file of rules. */
export interface ScreenTable {
  /** The first version whose screens were recorded. */
  readonly from: string;
  /** The last that it holds for; when left out, it holds until a later table reads the screen. */
  readonly to?: string | undefined;
  /**
   * Matches a whole screen that ends in a composer ready to be typed into, with the groups `draft` and, where
   * they exist, `above`, `footer` and `shell` (the composer runs commands).
   */
  readonly composer?: RegExp | undefined;
  /** What stands before each line of a draft. */
  readonly margin?: RegExp | undefined;
  /** What an empty composer shows instead of a draft. */
  readonly placeholder?: RegExp | undefined;
  /** Shown above the composer while a message waits for the end of a turn. */
  readonly queued?: RegExp | undefined;
  /** In this order; the first that matches decides. All but `title` and `screen` need a composer. */
  readonly signs: readonly Sign[];
}

/** Expressions that remember where they were (`g`, `y`) would read every other screen. */
const expressionShape = {
  pattern: z.string().min(1).max(8192),
  flags: z
    .string()
    .regex(/^(?!.*(.).*\1)[imsu]*$/)
    .optional(),
};

interface WrittenExpression {
  readonly pattern: string;
  readonly flags?: string | undefined;
}

type Refusal = { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void };

function compiled({ pattern, flags }: WrittenExpression, { addIssue }: Refusal): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch (error) {
    addIssue({ code: 'custom', path: ['pattern'], message: (error as Error).message });
    return z.NEVER;
  }
}

const expression = z.strictObject(expressionShape).transform(compiled);
const version = z.string().regex(/^\d+(\.\d+)*$/);
/** For people: why it is so. */
const note = z.string().max(1000).optional();

const sign = z
  .strictObject({
    status: z.enum(screenStatuses),
    blockedOn: z.enum(blockedReasons).optional(),
    in: z.enum(places),
    ...expressionShape,
    note,
  })
  .refine(({ status, blockedOn }) => status === 'blocked' || blockedOn === undefined, {
    path: ['blockedOn'],
    message: 'must stand beside the status blocked',
  })
  .transform(({ status, blockedOn, in: place, pattern, flags }, refusal) => ({
    ...{ status, blockedOn, in: place },
    pattern: compiled({ pattern, flags }, refusal),
  }));

/** A file of rules. */
export const screenTable: z.ZodType<ScreenTable> = z
  .strictObject({
    from: version,
    to: version.optional(),
    note,
    composer: expression.optional(),
    margin: expression.optional(),
    placeholder: expression.optional(),
    queued: expression.optional(),
    signs: z.array(sign).min(1).max(200),
  })
  .superRefine(({ from, to, composer, margin, placeholder, queued, signs }, { addIssue }) => {
    const refuse = (path: (string | number)[], message: string) =>
      addIssue({ code: 'custom', path, message });
    if (to !== undefined && compareVersions(from, to) > 0)
      refuse(['to'], `must not come before from, ${from}`);
    if (composer && !composer.source.includes('(?<draft>'))
      refuse(['composer', 'pattern'], 'must have a group (?<draft>…)');
    if (composer) return;
    for (const [name, given] of Object.entries({ margin, placeholder, queued }))
      if (given) refuse([name], 'must stand beside a composer');
    for (const [index, { in: place }] of signs.entries())
      if (place !== 'title' && place !== 'screen')
        refuse(['signs', index, 'in'], 'must be title or screen where there is no composer');
  });
