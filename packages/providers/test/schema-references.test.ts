import { describe, expect, it } from 'vitest';
import { lookUp, pointerSteps } from '../src/schemas/pointer.js';

const root = {
  $defs: { 'a/b': { type: 'string' }, 'c~d': { type: 'number' }, '100%': { type: 'null' }, 'e f': { type: 'array' } },
  anyOf: [{}],
};

describe('a reference within a schema', () => {
  it.each<[string, unknown]>([
    ['#', root],
    ['#/anyOf/0', {}],
    ['#/$defs/a~1b', { type: 'string' }],
    ['#/$defs/c~0d', { type: 'number' }],
    ['#/$defs/e%20f', { type: 'array' }],
    // Not percent-encoded as it should be.
    ['#/$defs/100%', { type: 'null' }],
    ['#/$defs/none', undefined],
    ['#/$defs/toString', undefined],
    ['other.json#/$defs/e', undefined],
  ])('%s', (reference, target) => {
    expect(lookUp(reference, root)).toEqual(target);
  });

  it('in steps', () => {
    expect(pointerSteps('#/$defs/a~1b')).toEqual(['$defs', 'a/b']);
    expect(pointerSteps('#')).toEqual([]);
    expect(pointerSteps('https://example.com/x.json')).toBeUndefined();
  });
});
