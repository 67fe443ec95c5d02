import {
  encodeInts,
  encodeMessage,
  encodeText,
  headerSize,
  type Layout,
  maxMessageSize,
  messageType,
} from './wire.ts';

/** What a client tells the server about itself. */
export interface Identity {
  readonly cwd: string;
  readonly pid: number;
  readonly env: NodeJS.ProcessEnv;
}

/** Bytes of a file one message can carry, after its header and the number of the stream. */
const chunkSize = maxMessageSize - headerSize - 4;

/** The client flag that makes tmux write UTF-8 whatever the locale; 64 bits, of which the upper half is empty. */
const utf8Flag = 0x1_0000;

/**
 * The burst that introduces a client. The terminal's name comes first and is empty: tmux up to 3.7c dies, and every
 * session with it, of a client that never gave one, so no cut connection may leave it out.
 */
export function identifyMessages({ cwd, pid, env }: Identity, layout: Layout): Buffer {
  const variables = Object.entries(env)
    .map(([name, value]) => encodeText(`${name}=${value ?? ''}`))
    // tmux's own client leaves out what does not fit.
    .filter((variable) => variable.length <= maxMessageSize - headerSize);
  const messages: readonly (readonly [type: number, data?: Buffer])[] = [
    [messageType.identifyTtyName, encodeText('')],
    [messageType.identifyLongFlags, longFlags()],
    [messageType.identifyTerm, encodeText(env.TERM ?? '')],
    [messageType.identifyFeatures, encodeInts(0)],
    [messageType.identifyCwd, encodeText(cwd)],
    [messageType.identifyClientPid, encodeInts(pid)],
    ...variables.map((variable) => [messageType.identifyEnviron, variable] as const),
    [messageType.identifyDone],
  ];
  return Buffer.concat(messages.map(([type, data]) => encodeMessage(type, data, layout)));
}

function longFlags(): Buffer {
  const flags = BigUint64Array.of(BigInt(utf8Flag));
  return Buffer.from(flags.buffer);
}

/** The words of a command line, separators and all. */
export function commandMessage(words: readonly string[], layout: Layout): Buffer {
  const data = Buffer.concat([encodeInts(words.length), ...words.map(encodeText)]);
  return encodeMessage(messageType.command, data, layout);
}

/** A file the server asked for: its bytes in pieces, and its end. */
export function* fileMessages(stream: number, bytes: Uint8Array, layout: Layout): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += chunkSize) {
    const data = Buffer.concat([encodeInts(stream), bytes.subarray(at, at + chunkSize)]);
    yield encodeMessage(messageType.read, data, layout);
  }
  yield encodeMessage(messageType.readDone, encodeInts(stream, 0), layout);
}
