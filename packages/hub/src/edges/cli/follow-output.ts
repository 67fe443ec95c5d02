import { setTimeout as sleep } from 'node:timers/promises';
import { type PaneReadResult, PolyError } from '@polyphony/protocol';
import type { Call } from './command.ts';
import { lineMatcher } from './grep-pane.ts';
import type { Output } from './output.ts';
import { fullPaneId } from './panes.ts';
import { readTail } from './read-tail.ts';

const followEveryMs = 200;

interface Following {
  readonly paneId: string;
  readonly grep?: string;
  readonly 'ignore-case'?: boolean;
  readonly tail?: number;
  readonly since?: number;
  readonly raw?: boolean;
}

/** Takes pages as they are read, and answers the exit code when the last was there. */
interface Printer {
  page(read: PaneReadResult): void;
  end(): number;
}

/** Prints what a pane prints, or of it the lines that match, until the pane ends. */
export async function followOutput({ hub, out, json }: Call, asked: Following): Promise<number> {
  const { paneId, grep, tail, since, raw } = asked;
  if (json)
    throw new PolyError('invalid_arguments', '--follow prints what comes as it comes: leave --json out.', {
      hint: 'poly events --json tells when a pane ends.',
    });
  const printer =
    grep === undefined ? everything(out) : matching(out, lineMatcher(grep, asked['ignore-case'] ?? false));
  const id = await fullPaneId(hub, paneId);
  const view = raw ? 'raw' : 'plain';
  const ask = (range: object): Promise<PaneReadResult> =>
    hub.call('pane:read', { paneId: id, view, ...range });
  let next = since;
  for (;;) {
    // Looked for before it is read, so that a pane that has ended has said all.
    const known = (await hub.call('pane:list', {})).find((pane) => pane.id === id);
    const page =
      next === undefined && tail !== undefined
        ? await readTail(ask, tail)
        : await ask(next === undefined ? {} : { since: next });
    printer.page(page);
    next = page.next;
    if (known?.status !== 'running' && !page.more) return printer.end();
    if (!page.more) await sleep(followEveryMs);
  }
}

/** A line that grows is printed as it grows. */
function everything(out: Output): Printer {
  let line: number | undefined;
  return {
    page({ lines = [], partial, data = '' }) {
      for (const { n, text } of lines) {
        out.bytes(n === line || line === undefined ? text : `\n${text}`);
        line = n;
      }
      // A line is ended as soon as it has its end, for whoever reads line by line.
      if (lines.length > 0 && !partial) {
        out.line();
        line = undefined;
      }
      out.bytes(Buffer.from(data, 'base64'));
    },
    end() {
      if (line !== undefined) out.line();
      return 0;
    },
  };
}

/** A line is judged when it is whole; none that matched is 1, as grep answers. */
function matching(out: Output, pattern: RegExp): Printer {
  let open: { readonly n: number; readonly text: string } | undefined;
  let code = 1;
  const judge = (text: string): void => {
    if (!pattern.test(text)) return;
    out.line(text);
    code = 0;
  };
  return {
    page({ lines = [], partial }) {
      for (const { n, text } of lines) {
        if (open && open.n !== n) judge(open.text);
        open = { n, text: open?.n === n ? open.text + text : text };
      }
      if (!open || partial || lines.length === 0) return;
      judge(open.text);
      open = undefined;
    },
    end() {
      if (open) judge(open.text);
      return code;
    },
  };
}
