import { endianness } from 'node:os';
import { TmuxError } from '../../errors.ts';

/** The version every tmux from 3.2 to 3.8 speaks; it stands in the low byte of each message's peer field. */
const protocolVersion = 8;
export const headerSize = 16;
export const maxMessageSize = 16_384;

/** The messages of tmux's client protocol that a client without a terminal sends or gets. */
export const messageType = {
  version: 12,
  identifyTerm: 101,
  identifyTtyName: 102,
  identifyEnviron: 105,
  identifyDone: 106,
  identifyClientPid: 107,
  identifyCwd: 108,
  identifyFeatures: 109,
  identifyLongFlags: 111,
  command: 200,
  exit: 203,
  exited: 204,
  exiting: 205,
  shutdown: 210,
  readOpen: 300,
  read: 301,
  readDone: 302,
  writeOpen: 303,
  write: 304,
  writeReady: 305,
  writeClose: 306,
} as const;

export interface Message {
  readonly type: number;
  /** The protocol version of who sent it. */
  readonly version: number;
  readonly data: Buffer;
}

/**
 * How a header holds the length. `narrow`, up to tmux 3.5a: 16 bits, then 16 flags. `wide`, from 3.6: 32 bits, the top
 * one a flag. The flags only tell of passed descriptors, and we pass none: on a little-endian machine the bytes of both
 * are then the same.
 */
export type Layout = 'narrow' | 'wide';

interface LengthField {
  write(header: DataView, length: number): void;
  read(header: DataView): number;
}

/** The protocol is native-endian, as both ends are on one machine. */
const little = endianness() === 'LE';

const lengthFields: Readonly<Record<Layout, LengthField>> = {
  narrow: {
    write: (header, length) => header.setUint16(4, length, little),
    read: (header) => header.getUint16(4, little),
  },
  wide: {
    write: (header, length) => header.setUint32(4, length, little),
    read: (header) => header.getUint32(4, little) & 0x7fff_ffff,
  },
};

/** One message as bytes; tmux takes none longer than 16 KiB with its header. */
export function encodeMessage(
  type: number,
  data: Uint8Array = Buffer.alloc(0),
  layout: Layout = 'wide',
  version: number = protocolVersion,
): Buffer {
  const length = headerSize + data.length;
  if (length > maxMessageSize) {
    const room = maxMessageSize - headerSize;
    throw new TmuxError('too_long', `A message of ${data.length} bytes does not fit: tmux takes ${room}.`, {
      type,
      length,
    });
  }
  const message = Buffer.alloc(length);
  const header = viewOf(message);
  header.setUint32(0, type, little);
  lengthFields[layout].write(header, length);
  header.setUint32(8, version, little);
  message.set(data, headerSize);
  return message;
}

/** Turns the bytes of a connection, in whatever pieces they come, into messages. */
export class MessageReader {
  readonly #layout: Layout;
  #rest: Buffer = Buffer.alloc(0);

  constructor(layout: Layout = 'wide') {
    this.#layout = layout;
  }

  /** The messages these bytes complete. Throws when the bytes are not tmux's, or of another protocol version. */
  push(chunk: Buffer): readonly Message[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const messages: Message[] = [];
    let at = 0;
    while (bytes.length - at >= headerSize) {
      const header = viewOf(bytes.subarray(at, at + headerSize));
      const length = lengthFields[this.#layout].read(header);
      if (length < headerSize || length > maxMessageSize) {
        throw new TmuxError('protocol', `tmux announced a message of ${length} bytes.`, { length });
      }
      if (bytes.length - at < length) break;
      const type = header.getUint32(0, little);
      const version = header.getUint32(8, little) & 0xff;
      if (type === messageType.version || version !== protocolVersion) throw mismatch(version);
      messages.push({ type, version, data: bytes.subarray(at + headerSize, at + length) });
      at += length;
    }
    this.#rest = bytes.subarray(at);
    return messages;
  }
}

function mismatch(version: number): TmuxError {
  const message = `The tmux server speaks version ${version} of its protocol, this engine version ${protocolVersion}.`;
  return new TmuxError('protocol_mismatch', message, { server: version, client: protocolVersion });
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Numbers as C's ints, one after the other. */
export function encodeInts(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, i) => {
    viewOf(bytes).setInt32(i * 4, value, little);
  });
  return bytes;
}

/** The int at a place; 0 when the message ends before it, as an exit without a code does. */
export function intAt(data: Buffer, index: number): number {
  return data.length < (index + 1) * 4 ? 0 : viewOf(data).getInt32(index * 4, little);
}

/** A text as C ends it. */
export function encodeText(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}

/** The C text from a place on. */
export function textAt(data: Buffer, offset: number): string {
  const end = data.indexOf(0, offset);
  return data.subarray(offset, end < 0 ? data.length : end).toString();
}
