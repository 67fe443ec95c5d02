import type { IncomingMessage } from 'node:http';
import { PolyError } from '@polyphony/protocol';

export interface BodyLimits {
  readonly bytes: number;
  readonly depth: number;
}

const bodyLimits: BodyLimits = { bytes: 1024 * 1024, depth: 64 };

/** Reads a JSON body within its limits. No body is an empty object. */
export async function readJson(request: IncomingMessage, limits: BodyLimits = bodyLimits): Promise<unknown> {
  const length = Number(request.headers['content-length'] ?? 0);
  if (length > limits.bytes) throw tooLarge(limits);
  const body = await readBody(request, limits);
  if (body.length === 0) return {};
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new PolyError('unsupported_media_type', `a body is JSON, not "${type.slice(0, 80)}".`, {
      hint: 'Send it with Content-Type: application/json',
    });
  }
  return parseJson('body', body, limits);
}

/** By its events: as an iterator a body takes longer than everything else that is done to read it. */
function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > limits.bytes) fail(tooLarge(limits));
    else chunks.push(chunk);
  };
  const leave = (): void =>
    void request.off('data', take).off('end', end).off('error', fail).off('close', cutOff);
  const end = (): void => {
    leave();
    resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes));
  };
  const fail = (error: Error): void => {
    leave();
    // Whatever else comes is left to whoever answers.
    request.pause();
    reject(error);
  };
  const cutOff = (): void => fail(new Error('the request broke off'));
  if (request.destroyed) cutOff();
  else request.on('data', take).on('end', end).on('error', fail).on('close', cutOff);
  return promise;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses what somebody sent, as far as it goes no deeper than it may. */
export function parseJson(
  what: 'body' | 'message',
  text: Buffer,
  { depth }: BodyLimits = bodyLimits,
): unknown {
  if (nesting(text) > depth)
    throw new PolyError('invalid_request', `the ${what} is nested deeper than ${depth} levels.`);
  try {
    return JSON.parse(utf8.decode(text));
  } catch (cause) {
    throw new PolyError('invalid_request', `the ${what} is not JSON: ${(cause as Error).message}`, { cause });
  }
}

/** How deep the brackets outside of strings go. Counted before parsing, which is what a deep one would exhaust. */
function nesting(text: Buffer): number {
  let deepest = 0;
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const byte = text[index];
    if (inString) {
      if (byte === backslash) index++;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === openBracket || byte === openBrace) deepest = Math.max(deepest, ++depth);
    else if (byte === closeBracket || byte === closeBrace) depth--;
  }
  return deepest;
}

const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace] = Buffer.from('"\\[]{}');

function tooLarge({ bytes }: BodyLimits): PolyError {
  return new PolyError('too_large', `a body has at most ${bytes} bytes.`);
}
