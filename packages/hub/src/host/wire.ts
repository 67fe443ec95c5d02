import { HostError } from './host-error.ts';

/**
 * What travels between hub and host: u32 length of the rest, u8 kind, u32 length of the head, the head as JSON, and a
 * body of raw bytes. Numbers are big-endian.
 */
export interface Frame {
  readonly kind: FrameKind;
  readonly head: unknown;
  readonly body: Buffer;
}

export type FrameKind = 'request' | 'reply' | 'failure' | 'event' | 'notice';

/** A request is answered by a reply or a failure; an event (host to hub) and a notice (hub to host) by nothing. */
const kinds: readonly FrameKind[] = ['request', 'reply', 'failure', 'event', 'notice'];

export const largestFrame: number = 16 * 1024 * 1024;
const lengthSize = 4;
const prefixSize = lengthSize + 1 + 4;
const nothing = Buffer.alloc(0);

/** The frame in pieces to be written one after the other, so that the body is not copied. */
export function encodeFrame(
  kind: FrameKind,
  head: unknown,
  body: Uint8Array = nothing,
): readonly Uint8Array[] {
  const json = Buffer.from(JSON.stringify(head));
  const length = prefixSize - lengthSize + json.length + body.length;
  if (length > largestFrame) {
    throw new HostError('invalid_parameters', `A message of ${length} bytes is too large for the host.`, {
      largest: largestFrame,
    });
  }
  const start = Buffer.allocUnsafe(prefixSize + json.length);
  start.writeUInt32BE(length, 0);
  start.writeUInt8(kinds.indexOf(kind), lengthSize);
  start.writeUInt32BE(json.length, lengthSize + 1);
  json.copy(start, prefixSize);
  return body.length === 0 ? [start] : [start, body];
}

/** Takes bytes as they come and gives the frames that are complete; throws on bytes that are no frames. */
export class FrameParser {
  #chunks: Buffer[] = [];
  #size = 0;
  #wanted = lengthSize;

  push(chunk: Buffer): readonly Frame[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    const frames: Frame[] = [];
    while (this.#size >= this.#wanted) {
      const bytes =
        this.#chunks.length === 1 && this.#chunks[0] ? this.#chunks[0] : Buffer.concat(this.#chunks);
      const length = bytes.readUInt32BE(0);
      if (length < prefixSize - lengthSize || length > largestFrame)
        throw notAFrame(`its length is ${length}`);
      const end = lengthSize + length;
      if (bytes.length >= end) frames.push(parseFrame(bytes.subarray(lengthSize, end)));
      const rest = bytes.length >= end ? bytes.subarray(end) : bytes;
      this.#wanted = bytes.length >= end ? lengthSize : end;
      this.#chunks = rest.length === 0 ? [] : [rest];
      this.#size = rest.length;
    }
    return frames;
  }
}

function parseFrame(bytes: Buffer): Frame {
  const kind = kinds[bytes.readUInt8(0)];
  if (kind === undefined) throw notAFrame(`its kind is ${bytes.readUInt8(0)}`);
  const headEnd = 5 + bytes.readUInt32BE(1);
  if (headEnd > bytes.length) throw notAFrame('its head is longer than itself');
  try {
    return {
      kind,
      head: JSON.parse(bytes.toString('utf8', 5, headEnd)),
      body: bytes.subarray(headEnd),
    };
  } catch (cause) {
    throw notAFrame('its head is no JSON', cause);
  }
}

function notAFrame(why: string, cause?: unknown): HostError {
  return new HostError(
    'protocol_mismatch',
    `What came over the host's socket is no frame: ${why}.`,
    {},
    cause,
  );
}
