import { endianness } from 'node:os';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  encodeInts,
  encodeMessage,
  encodeText,
  headerSize,
  intAt,
  type Layout,
  MessageReader,
  maxMessageSize,
  messageType,
  textAt,
} from './wire.ts';

const room = maxMessageSize - headerSize;
const message = fc.record({
  type: fc.integer({ min: 100, max: 400 }),
  data: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
});

/** The bytes in pieces that end at the given places. */
function pieces(bytes: Buffer, cuts: readonly number[]): readonly Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, i) => bytes.subarray(places[i], end));
}

describe.each<Layout>(['narrow', 'wide'])('with the %s header', (layout) => {
  test('messages come out as they went in, whatever pieces the bytes come in', () => {
    fc.assert(
      fc.property(fc.array(message), fc.array(fc.nat()), (messages, cuts) => {
        const bytes = Buffer.concat(messages.map(({ type, data }) => encodeMessage(type, data, layout)));
        const reader = new MessageReader(layout);
        const read = pieces(bytes, cuts).flatMap((piece) => reader.push(piece));
        expect(read.map(({ type, data }) => ({ type, data: Buffer.from(data) }))).toEqual(messages);
      }),
    );
  });

  test('the longest message is carried, and one byte more is a typed error', () => {
    const longest = Buffer.alloc(room, 1);
    expect(new MessageReader(layout).push(encodeMessage(200, longest, layout))).toMatchObject([
      { data: longest },
    ]);
    expect(() => encodeMessage(200, Buffer.alloc(room + 1), layout)).toThrow(
      expect.objectContaining({ code: 'too_long' }),
    );
  });

  test('an answer of another protocol version is a typed error that names both', () => {
    const answer = encodeMessage(messageType.version, undefined, layout, 9);
    const error = expect.objectContaining({ code: 'protocol_mismatch', details: { server: 9, client: 8 } });
    expect(() => new MessageReader(layout).push(answer)).toThrow(error);
    expect(() =>
      new MessageReader(layout).push(encodeMessage(messageType.exit, undefined, layout, 9)),
    ).toThrow(error);
  });

  test('bytes that are no message are a typed error and never a wait for more', () => {
    const reader = new MessageReader(layout);
    expect(() => reader.push(Buffer.alloc(headerSize, 0xff))).toThrow(
      expect.objectContaining({ code: 'protocol' }),
    );
    expect(() => new MessageReader(layout).push(Buffer.alloc(headerSize))).toThrow(
      expect.objectContaining({ code: 'protocol' }),
    );
  });
});

test('without a passed descriptor both headers are the same bytes on a little-endian machine', () => {
  fc.assert(
    fc.property(message, ({ type, data }) => {
      const same = encodeMessage(type, data, 'narrow').equals(encodeMessage(type, data, 'wide'));
      expect(same).toBe(endianness() === 'LE');
    }),
  );
});

test('numbers and texts are read back from where they were put', () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer(), fc.string({ unit: 'grapheme' }), (first, second, given) => {
      const text = given.replaceAll('\0', '');
      const data = Buffer.concat([encodeInts(first, second), encodeText(text)]);
      expect([intAt(data, 0), intAt(data, 1), textAt(data, 8)]).toEqual([first | 0, second | 0, text]);
    }),
  );
});

test('an exit without a code is the code 0', () => {
  expect(intAt(Buffer.alloc(0), 0)).toBe(0);
});
