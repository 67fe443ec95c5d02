import { type AgentRecording, type Meta, type PaneScreen, PolyError } from '@polyphony/protocol';
import { describedVendors, type ScreenRules } from './screens/screen-rules.ts';
import { readVersion } from './screens/version.ts';
import type { Signal } from './state/signal.ts';
import { recogniseVendor } from './vendors/vendors.ts';

interface RecordedPane {
  readonly id: string;
  readonly argv: readonly string[];
  readonly meta: Meta;
  readonly status: string;
}

interface RecordOptions {
  screen(): Promise<PaneScreen>;
  /** What is known of it without its screen. */
  readonly told: Signal | undefined;
  readonly rules: ScreenRules;
}

/** What an agent shows now, what the rules read from it, and what is known without it. */
export async function recordScreen(
  { id, argv, meta, status }: RecordedPane,
  { screen: look, told, rules }: RecordOptions,
): Promise<AgentRecording> {
  const vendor = describedVendors.find((name) => name === recogniseVendor(argv).name);
  if (vendor === undefined)
    throw new PolyError('conflict', `${id} runs ${argv[0]}, no agent whose screens are read.`, {
      hint: `Those are ${describedVendors.join(', ')}; poly agent list shows which run.`,
    });
  if (status === 'exited')
    throw new PolyError('conflict', `the agent in ${id} has ended, and shows nothing any more.`, {
      hint: `Start it again: poly restart ${id}`,
    });
  const screen = await look();
  const version = readVersion(meta['agent.version']);
  const { composer, ...read } = rules.readScreen(vendor, screen, version);
  return {
    vendor,
    ...(version !== undefined && { version }),
    ...(told && { told: { status: told.status, kind: told.reason?.kind, authority: told.from } }),
    screen,
    read: { ...read, ...(composer && { draft: composer.draft }) },
  };
}
