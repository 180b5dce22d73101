// What the name of a model says about its reasoning: data, so that a new family is a word.

/** How the names of OpenAI's models begin that do not reason. */
const UNREASONING = ['gpt-3', 'gpt-4', 'chatgpt-'];
/** How those begin that do, or are not out yet. The open ones, `gpt-oss`, show their reasoning to any server. */
const REASONING = ['gpt-', 'codex', 'computer-use', ...[...'123456789'].map(generation => `o${generation}`)];

/** The model does not reason. It refuses to be asked for encrypted reasoning, and to be shown that of others. */
export function refusesReasoning(model: string): boolean {
  const name = bareName(model);
  return begins(name, UNREASONING) || (name.startsWith('gpt-') && isChat(name));
}

/**
 * Whether it reasons when nobody asks for it. At OpenAI's own server what is not known does: reasoning that nobody asked for is lost in silence.
 * Elsewhere a model may be anybody's, so that its name has to say it.
 */
export function reasonsUnasked(model: string, server: string): boolean {
  const name = bareName(model);
  if (refusesReasoning(model) || isChat(name)) return false;
  return server === 'openai' || (begins(name, REASONING) && !name.startsWith('gpt-oss'));
}

function isChat(name: string): boolean {
  return name.includes('-chat');
}

function begins(name: string, beginnings: readonly string[]): boolean {
  return beginnings.some(beginning => name.startsWith(beginning));
}

/** Before the name may stand a vendor, or the mark of a model that was trained further: `openai/gpt-5`, `ft:gpt-4o:…`. */
function bareName(model: string): string {
  const name = model.slice(model.lastIndexOf('/') + 1);
  return name.startsWith('ft:') ? name.slice('ft:'.length) : name;
}
