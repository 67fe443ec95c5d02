import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeFrame, type Frame, FrameParser, largestFrame } from './wire.ts';

const frame: fc.Arbitrary<Frame> = fc.record({
  kind: fc.constantFrom('request', 'reply', 'failure', 'event', 'notice'),
  head: fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value))),
  body: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
});

const encode = (frames: readonly Frame[]): Buffer =>
  Buffer.concat(frames.flatMap(({ kind, head, body }) => encodeFrame(kind, head, body)));

test('frames arrive as they were sent, however the bytes fall', () => {
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 10 }),
      fc.array(fc.integer({ min: 1, max: 50 })),
      (frames, cuts) => {
        const parser = new FrameParser();
        const bytes = encode(frames);
        const found: Frame[] = [];
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = cuts[i] ?? bytes.length;
          found.push(...parser.push(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(found).toEqual(frames);
      },
    ),
  );
});

test('a large frame in many chunks is not copied again for each', () => {
  const body = Buffer.alloc(8 * 1024 * 1024, 'x');
  const bytes = encode([{ kind: 'reply', head: {}, body }]);
  const parser = new FrameParser();
  const started = performance.now();
  const found = Array.from({ length: Math.ceil(bytes.length / 1024) }, (_, i) =>
    parser.push(bytes.subarray(i * 1024, (i + 1) * 1024)),
  ).flat();
  expect(found[0]?.body.equals(body)).toBe(true);
  expect(performance.now() - started).toBeLessThan(1_000);
});

test.each([
  ['a length beyond the largest', Buffer.from([0xff, 0, 0, 0, 0])],
  ['a length too small for a frame', Buffer.from([0, 0, 0, 1, 0])],
  ['an unknown kind', Buffer.from([0, 0, 0, 7, 9, 0, 0, 0, 2, 0x7b, 0x7d])],
  ['a head longer than the frame', Buffer.from([0, 0, 0, 7, 0, 0, 0, 0, 9, 0x7b, 0x7d])],
  ['a head that is no JSON', Buffer.from([0, 0, 0, 7, 0, 0, 0, 0, 2, 0x7b, 0x7b])],
])('%s is refused', (_what, bytes) => {
  expect(() => new FrameParser().push(bytes)).toThrow(expect.objectContaining({ code: 'protocol_mismatch' }));
});

test('whatever comes is either frames or refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      try {
        new FrameParser().push(Buffer.from(bytes));
      } catch (error) {
        expect(error).toMatchObject({ code: 'protocol_mismatch' });
      }
    }),
  );
});

test('a message that is too large is refused before it is sent', () => {
  expect(() => encodeFrame('request', {}, Buffer.alloc(largestFrame))).toThrow(
    expect.objectContaining({ code: 'invalid_parameters' }),
  );
});
