import type { WireBlock } from './anthropic-wire.js';

type Body = Record<string, unknown> & { messages: { role: string; content: string | WireBlock[] }[] };

/** Why the API would refuse this request, as far as its documentation and its error messages tell; undefined when it would take it. */
export function refusal(body: Body): string | undefined {
  const faults: string[] = [];
  const must = (holds: boolean, fault: string) => {
    if (!holds) faults.push(fault);
  };
  must(typeof body.model === 'string' && body.model !== '', 'model: Field required');
  must(Number.isInteger(body.max_tokens) && (body.max_tokens as number) > 0, 'max_tokens: Field required');
  must(body.messages.length > 0, 'messages: at least one message is required');
  must(body.messages[0]?.role === 'user', 'messages: first message must use the "user" role');
  body.messages.forEach(({ role, content }, i) => {
    must(role === 'user' || role === 'assistant', `messages.${i}: unexpected role "${role}"`);
    must(role !== body.messages[i - 1]?.role, `messages.${i}: roles must alternate`);
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    must(blocks.length > 0, `messages.${i}: content must not be empty`);
    blocks.forEach((block, j) => must(blockFault(block) === undefined, `messages.${i}.content.${j}: ${blockFault(block)}`));
    if (role === 'assistant') checkCalls(blocks, body.messages[i + 1], i, must);
    else checkResults(blocks, body.messages[i - 1], i, must);
  });
  const last = body.messages.at(-1);
  if (last?.role === 'assistant' && typeof last.content !== 'string') {
    const text = last.content.at(-1)?.text;
    must(typeof text !== 'string' || text === text.trimEnd(), 'final assistant content cannot end with trailing whitespace');
  }
  const marks = JSON.stringify(body).split('"cache_control"').length - 1;
  must(marks <= 4, `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`);
  const thinking = body.thinking as { type: string; budget_tokens?: number } | undefined;
  if (thinking?.type === 'enabled') {
    must((thinking.budget_tokens ?? 0) >= 1024, 'thinking.budget_tokens: at least 1024');
    must((thinking.budget_tokens ?? 0) < (body.max_tokens as number), '`max_tokens` must be greater than `thinking.budget_tokens`');
    must(body.temperature === undefined || body.temperature === 1, '`temperature` may only be set to 1 when thinking is enabled');
    const choice = (body.tool_choice as { type: string } | undefined)?.type;
    const results = body.messages.at(-1)?.content;
    const answered = Array.isArray(results) && results.some(({ type }) => type === 'tool_result');
    const first = (body.messages.at(-2)?.content as WireBlock[] | undefined)?.[0]?.type;
    must(!answered || /thinking/.test(first ?? ''), 'Expected `thinking` or `redacted_thinking`, but found `tool_use`');
    must(choice !== 'any' && choice !== 'tool', 'Thinking may not be enabled when tool_choice forces tool use.');
  }
  must(body.temperature === undefined || (body.temperature as number) <= 1, 'temperature: range: 0..1');
  must(body.tool_choice === undefined || Array.isArray(body.tools), 'tool_choice may only be specified while providing tools');
  for (const tool of (body.tools ?? []) as WireBlock[]) must(/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name ?? 'x'), 'tools: bad name');
  return faults[0];
}

function blockFault(block: WireBlock): string | undefined {
  const { type } = block;
  if (type === 'text')
    return typeof block.text === 'string' && block.text.trim() !== '' ? undefined : 'text content blocks must contain non-whitespace text';
  if (type === 'thinking')
    return typeof block.signature === 'string' && block.signature.startsWith('sig') ? undefined : 'Invalid `signature` in `thinking` block';
  if (type === 'tool_use') {
    if (!/^[a-zA-Z0-9_-]+$/.test(String(block.id))) return 'tool_use.id: String should match pattern';
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(String(block.name))) return 'tool_use.name: String should match pattern';
    return typeof block.input === 'object' && block.input !== null && !Array.isArray(block.input)
      ? undefined
      : 'tool_use.input: must be an object';
  }
  if (type === 'image') {
    const source = block.source as { type: string; media_type?: string };
    return source.type !== 'base64' || /^image\/(jpeg|png|gif|webp)$/.test(source.media_type ?? '') ? undefined : 'image: bad media type';
  }
  if (type === 'tool_result') {
    const content = block.content as string | WireBlock[] | undefined;
    if (block.is_error === true && (content === undefined || content.length === 0)) return 'content cannot be empty if `is_error` is true';
    if (!Array.isArray(content)) return undefined;
    if (block.is_error === true && content.some(part => part.type !== 'text'))
      return 'all content must be type "text" if `is_error` is true';
    return content.map(blockFault).find(fault => fault !== undefined);
  }
  return undefined;
}

type Must = (holds: boolean, fault: string) => void;
type Turn = { content: string | WireBlock[] } | undefined;

function checkCalls(blocks: readonly WireBlock[], next: Turn, i: number, must: Must): void {
  const ids = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
  must(!/thinking/.test(blocks.at(-1)?.type ?? ''), `messages.${i}: The final block in an assistant message cannot be \`thinking\``);
  must(new Set(ids).size === ids.length, `messages.${i}: tool_use ids must be unique`);
  const answers = Array.isArray(next?.content)
    ? next.content.filter(({ type }) => type === 'tool_result').map(block => block.tool_use_id)
    : [];
  must(
    ids.every(id => answers.includes(id)),
    `messages.${i}: tool_use ids were found without tool_result blocks immediately after`,
  );
  const served = new Set(blocks.filter(({ type }) => type.endsWith('_tool_result')).map(block => block.tool_use_id));
  const open = blocks.filter(({ type, id }) => type === 'server_tool_use' && !served.has(id));
  const over = Array.isArray(next?.content) && next.content.some(({ type }) => type !== 'tool_result');
  must(open.length === 0 || !over, `messages.${i}: server tool use was found without a corresponding result block`);
}

function checkResults(blocks: readonly WireBlock[], before: Turn, i: number, must: Must): void {
  const ids = Array.isArray(before?.content) ? before.content.filter(({ type }) => type === 'tool_use').map(({ id }) => id) : [];
  const answers = blocks.filter(({ type }) => type === 'tool_result').map(block => block.tool_use_id);
  must(
    answers.every(id => ids.includes(id)),
    `messages.${i}: unexpected tool_use_id found in tool_result blocks`,
  );
  must(new Set(answers).size === answers.length, `messages.${i}: each tool_use must have a single result`);
  const first = blocks.findIndex(({ type }) => type !== 'tool_result');
  must(first < 0 || blocks.slice(first).every(({ type }) => type !== 'tool_result'), `messages.${i}: tool_result blocks must come first`);
}
