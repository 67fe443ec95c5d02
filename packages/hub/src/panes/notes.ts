import { type Meta, PolyError } from '@polyphony/protocol';

const mostNotes = 100;
const mostBytes = 64 * 1024;

/** Refuses more notes of one pane than are kept: every change of them is logged with all there are. */
export function limitNotes(meta: Meta): void {
  const count = Object.keys(meta).length;
  const bytes = Buffer.byteLength(JSON.stringify(meta));
  if (count <= mostNotes && bytes <= mostBytes) return;
  throw new PolyError(
    'too_large',
    `a pane keeps at most ${mostNotes} notes and ${mostBytes} bytes of them; these are ${count} notes and ${bytes} bytes.`,
    { hint: 'Delete some with pane:delete-meta, or keep what is large in a file and note its name.' },
  );
}
