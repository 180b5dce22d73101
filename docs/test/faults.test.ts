import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

// The table of faults cannot rot: each proof that it names is a test that exists. The text of the test files is searched; nothing is run.
const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs/faults.md'), 'utf8');

interface Proof {
  readonly file: string;
  readonly title: string;
}

const rows = [...page.matchAll(/^\| (.+) \| (.+) \| (.+) \|$/gm)]
  .map(([, fault = '', here = '', proof = '']) => ({ fault: fault.trim(), here: here.trim(), proof: proof.trim() }))
  .filter(({ fault }) => fault !== 'Fault' && !fault.startsWith('---'));
const proofsIn = (cell: string): Proof[] =>
  cell.split('<br>').map(text => {
    const [, file = '', title = ''] = /^`(\S+) › (.+)`$/.exec(text) ?? [];
    return { file, title };
  });

/** A text in one of the three kinds of quotes, as TypeScript writes it. */
const QUOTED = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g;
/** What stands for a value in a title: `%s`, `$name`, `${name}`. */
const VALUE = /%[sdijfo#]|\$\{[^}]*\}|\$\w+/;

interface Titles {
  /** Every quoted text outside comments, and the keys of tables: titles, and what rows of a table are called. */
  readonly texts: ReadonlySet<string>;
  /** Titles of tests with a place for a value. */
  readonly templates: readonly string[];
}

function titlesOf(source: string): Titles {
  const code = source.replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, '');
  const keys = [...code.matchAll(/^\s*(\w+): \{/gm)].map(([, key = '']) => key);
  const quoted = [...code.matchAll(QUOTED)].map(({ 0: { length }, 1: single, 2: double, 3: template, index }) => ({
    text: (single ?? double ?? template ?? '').replace(/\\(['"`\\])/g, '$1'),
    isTitle: /(?:\b(?:test|it)[\w.]*|\))\(\s*$/.test(code.slice(Math.max(0, index - 40), index)) && length > 2,
  }));
  return {
    texts: new Set([...quoted.map(({ text }) => text), ...keys]),
    templates: quoted.flatMap(({ text, isTitle }) => (isTitle && VALUE.test(text) ? [text] : [])),
  };
}

/** True for a title, for what a row of a table is called, and for a title with its value put in. */
function holds({ texts, templates }: Titles, title: string): boolean {
  if (texts.has(title)) return true;
  return templates.some(template => {
    const [before = '', ...rest] = template.split(VALUE);
    const after = rest.at(-1) ?? '';
    if (!title.startsWith(before) || !title.endsWith(after)) return false;
    // Where the title begins with the value, the value must stand in the file.
    return before.length >= 5 || (rest.length === 1 && after.length >= 5 && texts.has(title.slice(before.length, -after.length)));
  });
}

const read = new Map<string, Titles>();
function titlesIn(file: string): Titles {
  const known = read.get(file) ?? titlesOf(readFileSync(join(root, file), 'utf8'));
  read.set(file, known);
  return known;
}

describe('faults', () => {
  test('no row was lost', () => {
    expect(rows.length).toBeGreaterThanOrEqual(200);
    expect(page.match(/^\|/gm)?.length).toBe(rows.length + 2 * (page.match(/^## /gm)?.length ?? 0));
    expect(new Set(rows.map(({ fault }) => fault)).size).toBe(rows.length);
  });

  test.each(rows)('$fault', ({ proof }) => {
    for (const { file, title } of proofsIn(proof)) {
      expect(file).toMatch(/^(packages\/\w+|docs)\/test\/[\w./-]+\.test\.ts$/);
      expect(existsSync(join(root, file)), file).toBe(true);
      expect(holds(titlesIn(file), title), `${file} › ${title}`).toBe(true);
    }
  });

  test('a title that no file holds is found out', () => {
    const source = `// test('only a comment')\ntest.each([['a row']])('%s is mended', () => {});\ntest('hides a key that is echoed as %s', f);\ntest("it\\'s", f);`;
    const titles = titlesOf(source);
    for (const title of ['a row', 'a row is mended', 'hides a key that is echoed as text', "it's"]) expect(holds(titles, title)).toBe(true);
    for (const title of ['only a comment', 'another row is mended', 'is mended', 'hides a key', ''])
      expect(holds(titles, title)).toBe(false);
  });
});
