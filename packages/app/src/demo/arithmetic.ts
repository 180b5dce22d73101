/** Operators with their precedence; a higher one binds tighter. */
const BINARY: {
  readonly [op: string]: {
    readonly precedence: number;
    readonly rightAssociative?: true;
    readonly apply: (a: number, b: number) => number;
  };
} = {
  '+': { precedence: 1, apply: (a, b) => a + b },
  '-': { precedence: 1, apply: (a, b) => a - b },
  '*': { precedence: 2, apply: (a, b) => a * b },
  '/': { precedence: 2, apply: (a, b) => a / b },
  '^': { precedence: 4, rightAssociative: true, apply: (a, b) => a ** b },
};

/** A sign binds tighter than `*` and looser than `^`: −2² is −4, and 2⁻³ is ⅛. */
const SIGN_PRECEDENCE = 3;

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\bplus\b|\band\b/g, '+'],
  [/\bminus\b/g, '-'],
  [/\btimes\b|\bmultiplied by\b|×|·/g, '*'],
  [/\bdivided by\b|\bover\b|÷/g, '/'],
  [/\bto the power of\b|\*\*/g, '^'],
  [/\bpercent of\b|% of\b/g, '/ 100 *'],
  [/\bpercent\b|%/g, '/ 100'],
  [/\bsquared\b|²/g, '^ 2'],
  [/\bcubed\b|³/g, '^ 3'],
];

const SMALL =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');

/** The arithmetic in a question, as an expression of digits and operators; undefined when there is none. `what is 2 plus 2` → `2 + 2` */
export function findExpression(question: string): string | undefined {
  let text = spelledNumbers(question.toLowerCase().replace(/(\d),(?=\d{3}\b)/g, '$1'));
  for (const [words, symbol] of WORDS) text = text.replace(words, ` ${symbol} `);
  const match = text
    .match(/[-(\d.][-+*/^().\d\s]*[)\d]/)?.[0]
    .replace(/\s+/g, ' ')
    .trim();
  return match && /\d/.test(match) && /\d.*[-+*/^].*\d/.test(match) ? match : undefined;
}

/** Evaluates `+ - * / ^`, signs and brackets. Throws an `Error` that says where the text is no arithmetic, or that the result is no number. */
export function evaluate(expression: string): number {
  const tokens = expression.match(/\d+\.?\d*(?:e[-+]?\d+)?|\.\d+|[-+*/^()]|\S/gi) ?? [];
  let at = 0;
  const fail = (): never => {
    throw new Error(at < tokens.length ? `"${tokens[at]}" has no place in "${expression}"` : `"${expression}" ends too early`);
  };
  const operand = (): number => {
    const token = tokens[at];
    if (token === '-' || token === '+') {
      at++;
      const value = operation(SIGN_PRECEDENCE);
      return token === '-' ? -value : value;
    }
    if (token === '(') {
      at++;
      const value = operation(0);
      if (tokens[at] !== ')') return fail();
      at++;
      return value;
    }
    if (token === undefined || !/^[\d.]/.test(token)) return fail();
    at++;
    return Number(token);
  };
  const operation = (limit: number): number => {
    let left = operand();
    for (let op = BINARY[tokens[at] ?? '']; op && op.precedence >= limit; op = BINARY[tokens[at] ?? '']) {
      at++;
      left = op.apply(left, operation(op.rightAssociative ? op.precedence : op.precedence + 1));
    }
    return left;
  };
  const value = operation(0);
  if (at < tokens.length) fail();
  if (!Number.isFinite(value)) throw new Error(`"${expression}" has no finite result`);
  return Number(value.toPrecision(12));
}

/** "twenty five" → 25, as far as speech needs it: up to ninety-nine. */
function spelledNumbers(text: string): string {
  const tens = TENS.map((word, i) => [word, (i + 2) * 10] as const);
  let result = text;
  for (const [word, ten] of tens) {
    result = result.replace(new RegExp(`\\b${word}(?:[- ](${SMALL.slice(1, 10).join('|')}))?\\b`, 'g'), (_, unit?: string) =>
      String(ten + (unit ? SMALL.indexOf(unit) : 0)),
    );
  }
  return result.replace(new RegExp(`\\b(${SMALL.join('|')})\\b`, 'g'), word => String(SMALL.indexOf(word)));
}
