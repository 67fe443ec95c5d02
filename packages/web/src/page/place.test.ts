import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressOf, placeOf, views } from './place.ts';

describe('a place', () => {
  it('is found again from its address, whatever is open in it', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...views.filter((view) => view !== 'terminals')),
        fc.option(fc.string({ minLength: 1, unit: 'grapheme' }), { nil: undefined }),
        (view, item) => {
          expect(placeOf(addressOf({ view, item }))).toEqual(item === undefined ? { view } : { view, item });
        },
      ),
    );
    expect(placeOf(addressOf({ view: 'terminals' }))).toEqual({ view: 'terminals' });
  });

  it.each(['', '#', '#/', '#/nowhere', '#ticket=abc', '#/mail/a/b', '#/../x'])(
    'that nobody knows, as %j, is the terminals',
    (address) => expect(placeOf(address)).toEqual({ view: 'terminals' }),
  );

  it('with an item that cannot be read is the view itself', () => {
    expect(placeOf('#/mail/%E0%A4%A')).toEqual({ view: 'mail' });
  });
});
