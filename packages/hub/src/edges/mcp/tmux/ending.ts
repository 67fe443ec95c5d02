import * as z from 'zod';
import { done } from './answers.ts';
import { sparedEngine } from './guarded-engine.ts';
import { target, yes } from './params.ts';
import { ends, spareCaller } from './spare-caller.ts';
import { resolveTarget } from './target.ts';
import { type Verb, verb } from './verb.ts';

/** What ends something, or can. */
export const ending: Readonly<Record<string, Verb>> = {
  kill_pane: verb({
    description: 'Ends a pane, or with others every other pane of its window. Never your own.',
    effect: 'destructive',
    params: { target, others: yes },
    async run({ target: pane, others = false }, { run, tmux, look, caller }) {
      const seen = await look();
      const row = resolveTarget(seen.panes, pane);
      spareCaller(caller, seen, ends.pane(row, others, seen.panes), 'kill_pane');
      await run(tmux.killPane({ target: row.paneId, others }));
      return done('Ended.');
    },
  }),
  kill_window: verb({
    description: 'Ends a window, or with others every other one of its session. Never your own.',
    effect: 'destructive',
    params: { target, others: yes },
    async run({ target: window, others = false }, { run, tmux, look, caller }) {
      const seen = await look();
      const row = resolveTarget(seen.panes, window);
      spareCaller(caller, seen, ends.window(row, others, seen.panes), 'kill_window');
      await run(tmux.killWindow({ target: row.windowId, others }));
      return done('Ended.');
    },
  }),
  kill_session: verb({
    description: 'Ends a session. Never your own.',
    effect: 'destructive',
    params: { target },
    async run({ target: session }, { run, tmux, look, caller }) {
      const seen = await look();
      const row = resolveTarget(seen.panes, session);
      spareCaller(caller, seen, ends.session(row, false, seen.panes), 'kill_session');
      await run(tmux.killSession({ target: row.sessionId }));
      return done('Ended.');
    },
  }),
  run_tmux: verb({
    description: 'Runs one tmux command, given as words without "tmux". Never one that ends your own pane.',
    effect: 'destructive',
    params: { args: z.array(z.string()).min(1).max(500) },
    async run({ args }, use) {
      const { status, stdout, stderr } = await sparedEngine(use, 'run_tmux', 'thrown').run(
        { argv: args, effect: 'destructive' },
        { signal: use.context.signal },
      );
      const ok = status === 'complete';
      const said = [stdout, stderr].map((part) => part.trimEnd()).filter(Boolean);
      const text = said.join('\n') || (ok ? 'Done.' : 'tmux refused it.');
      return { text, structured: { ok, stdout, stderr }, ...(!ok && { isError: true }) };
    },
  }),
};
