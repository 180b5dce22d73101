/**
 * Takes out of a text what is meant for the eye: markdown, HTML, tables, code fences, URLs, emoji, arrows, boxes. Knows no
 * language. Every pattern is bounded and cannot begin twice in one place, so the work is linear.
 */
export interface MarkupOptions {
  readonly urls: 'skip' | 'spell';
  /** Said instead of a fence or table; '' skips it. */
  readonly announcement: string;
}

/** Private characters, taken out of the input first: where something was removed, where an arrow stood, where code is kept. */
const GAP = '\ue002';
const ARROW = '\ue003';
const CODE_OPEN = '\ue000';
const CODE_CLOSE = '\ue001';

const FENCE = /^\s{0,40}(`{3,}|~{3,})/;
const TABLE_ROW = /^\s*\|.*\|\s*$/;
const TABLE_RULE = /^[\s|:-]*-[\s|:-]*$/;
const LINE_STARTS: readonly RegExp[] = [
  /^\s{0,40}(?:>\s?){1,20}/,
  /^\s{0,40}#{1,6}\s+/,
  /^\s{0,40}\[\^[^\]\s]{1,40}\]:\s*/,
  /^\s{0,40}(?:[-*+•⁃◦▪●‣⁌⁍]|\d{1,3}(?:\.\)?|\)))\s+(?=\S)/,
  /^\s{0,40}\[[ xX]\]\s+/,
];
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', '#39': "'" };

const URL_PATTERN = /(?<![\p{L}\p{N}])(?:(?:https?|ftp):\/\/|www\.)[^\s<>"'`\])}\ue000-\ue003]+/giu;
const EMAIL = /(?<![\p{L}\p{N}._%+-])([\p{L}\p{N}._%+-]{1,64})@((?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24})/gu;
const DOMAIN =
  /(?<![\p{L}\p{N}@./_-])(?:[a-z\d-]{1,63}\.){1,8}(?:com|org|net|io|dev|ai|app|edu|gov|info|co|uk|de|fr|eu|us)\b(?![./]?[\p{L}\p{N}@])/giu;
const EMOJI =
  /(?:\p{Regional_Indicator}{1,2}|[\d#*]\ufe0f?\u20e3|(?![©®™‼⁉])\p{Extended_Pictographic}(?:[\ufe0e\ufe0f\u20e3]|\p{Emoji_Modifier}|[\u{e0020}-\u{e007f}]|\u200d\p{Extended_Pictographic})*|\p{Emoji_Modifier})/gu;
const ARROWS = /(?:[\u2190-\u21ff\u27f0-\u27ff\u2900-\u297f\u2b00-\u2b11➔-➾]|(?<!\S)(?:<?[-=]{1,4}>|<[-=]{1,4})(?!\S))+/gu;
const DRAWING = /[\u2500-\u25ff\u2800-\u28ff\u2b12-\u2bff]+/g;

/** The text without its markup; still with digits, in its own language. */
export function withoutMarkup(text: string, options: MarkupOptions): string {
  const clean = text
    .replace(/[\ud800-\udfff\ue000-\ue003]/gu, '')
    .replace(/\r\n?/g, '\n')
    // Long runs of white space would make the patterns below slow.
    .replace(/[^\S\n]{2,}/g, ' ')
    .replace(/\s*\n\s*/g, run => (run.indexOf('\n') === run.lastIndexOf('\n') ? '\n' : '\n\n'));
  return tidy(inline(blocks(withoutAsides(clean), options.announcement), options));
}

const ASIDE = /(<\/?(?:think|thinking|reasoning|tool_call|tool_calls|function_call|function_calls)>)/i;

/** Reasoning and tool calls that a model wrote into its text are not spoken: an opening tag, if it is ever closed, up to the close. */
function withoutAsides(text: string): string {
  const parts = text.split(ASIDE);
  if (parts.length === 1) return text;
  const lastClose = parts.findLastIndex(part => part.startsWith('</') && ASIDE.test(part));
  let inside = false;
  return parts
    .filter((part, index) => {
      if (index % 2 === 0) return !inside;
      inside = !part.startsWith('</') && index < lastClose;
      return false;
    })
    .join(' ');
}

/** Line by line: fences and tables go, markers at the start of a line too. */
function blocks(text: string, announcement: string): string {
  const kept: string[] = [];
  let fence = '';
  let inTable = false;
  const lines = text.split('\n');
  lines.forEach((line, index) => {
    const run = FENCE.exec(line)?.[1] ?? '';
    if (fence) {
      if (run.startsWith(fence)) fence = '';
      return;
    }
    // An info string with a back-tick is inline code, not a fence.
    if (run && !(run[0] === '`' && line.slice(line.indexOf(run) + run.length).includes('`'))) {
      fence = run;
      kept.push(announcement);
      return;
    }
    const rule = line.includes('|') && TABLE_RULE.test(line);
    const header = line.includes('|') && (lines[index + 1]?.includes('|') ?? false) && TABLE_RULE.test(lines[index + 1] ?? '');
    const row = TABLE_ROW.test(line) || rule || header || (inTable && line.includes('|'));
    // Only the rule speaks for the table: a clause may be a single row.
    if (rule) kept.push(announcement);
    if (!row) kept.push(LINE_STARTS.reduce((rest, start) => rest.replace(start, ''), line));
    inTable = row;
  });
  return kept.join('\n');
}

function inline(text: string, options: MarkupOptions): string {
  const code: string[] = [];
  const spoken = text
    .replace(
      /(?<!`)(`{1,8})(?!`)([^`]{1,500})\1(?!`)/g,
      (_, _run, inside: string) => `${CODE_OPEN}${code.push(inside.trim()) - 1}${CODE_CLOSE}`,
    )
    .replace(/<!--[^<>]{0,2000}-->/g, GAP)
    .replace(/<((?:https?|mailto):[^<>\s]{1,2000})>/gi, '$1')
    .replace(/<\/?(?:br|p|div|li|tr|h[1-6])\b[^<>]{0,500}>/gi, ' ')
    .replace(/<\/?[a-z][^<>]{0,500}>/gi, '')
    .replace(/&(amp|lt|gt|quot|apos|nbsp|#39);/g, (_, name: string) => ENTITIES[name]!)
    .replace(/!?\[([^[\]]{0,500})\]\([^()]{0,2000}(?:\([^()]{0,200}\)[^()]{0,200})?\)/g, '$1')
    .replace(/【[^【】]{0,100}】|\[\^[^[\]\s]{1,40}\]|\[\d{1,4}(?:[,;–-] ?\d{1,4}){0,20}\]/g, GAP)
    .replace(/!?\[([^[\]]{1,500})\](?:\[[^[\]]{0,100}\])/g, '$1')
    .replace(/\[([^[\]]{1,500})\]/g, '$1')
    .replace(URL_PATTERN, url => spokenUrl(url, options.urls));
  const addresses = options.urls === 'spell' ? spellAddresses(spoken) : spoken;
  const drawn = addresses.replace(ARROWS, ARROW).replace(EMOJI, GAP).replace(DRAWING, GAP);
  return withoutEmphasis(drawn).replace(/\ue000(\d+)\ue001/g, (_, index: string) => code[Number(index)]?.replace(EMOJI, '') ?? '');
}

function spokenUrl(url: string, urls: 'skip' | 'spell'): string {
  const trailing = /[.,;:!?*_~]+$/.exec(url.slice(-20))?.[0] ?? '';
  if (urls === 'skip') return GAP + trailing;
  const address = url.slice(0, url.length - trailing.length).replace(/^[a-z]+:\/\/|[?#].*$/gi, '');
  return spell(address.replace(/\/+$/, '')) + trailing;
}

function spell(address: string): string {
  return address.replaceAll('.', ' dot ').replaceAll('/', ' slash ').replaceAll('@', ' at ');
}

function spellAddresses(text: string): string {
  return text.replace(EMAIL, address => spell(address)).replace(DOMAIN, domain => spell(domain));
}

const WORD = /[\p{L}\p{N}\ue000\ue001]/u;
const DIGIT = /\p{N}/u;

/**
 * Removes runs of `*`, `_` and `~~` that touch a word on one side only, closed or not (a clause may hold one half of a pair).
 * `2 * 3`, `2*3`, `2**3` and `snake_case` stay.
 */
function withoutEmphasis(text: string): string {
  return text.replace(/\*+|_+|~~+/g, (run: string, at: number) => {
    const before = text[at - 1] ?? ' ';
    const after = text[at + run.length] ?? ' ';
    const spaces = /\s/.test(before) && /\s/.test(after);
    if (spaces) return run.length > 2 || run[0] === '~' ? GAP : run;
    if (after === '=' && /\s/.test(before)) return run;
    const inside = WORD.test(before) && WORD.test(after);
    if (!inside || run[0] === '~') return '';
    if (run[0] === '_' || run.length === 1) return run;
    return DIGIT.test(before) && DIGIT.test(after) ? run : '';
  });
}

/** Closes the gaps that were left and puts a comma for an arrow between words; other punctuation stays as it is. */
function tidy(text: string): string {
  return text
    .replace(/[ \t\ue002\ue003]+/g, run => (run.includes(ARROW) ? ARROW : run.includes(GAP) ? GAP : ' '))
    .replace(/(^|\n)[\ue002\ue003]/g, '$1')
    .replace(/[\ue002\ue003](?=[.,;:!?…。，！？)\]}\n]|$)/g, '')
    .replace(/\ue003/g, ', ')
    .replace(/\ue002/g, ' ')
    .replace(/[([{] ?[)\]}]/g, '')
    .replace(/ {2,}/g, ' ')
    .replace(/ ?\n\s*/g, '\n')
    .trim();
}
