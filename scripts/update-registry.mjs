// Brings the facts of packages/providers/src/registry/data.ts up to date from a file that you have downloaded: JSON as models.dev has it
// (`api.json`) or as LiteLLM has it (`model_prices_and_context_window.json`). It uses no network. Read the difference before you commit it.
//
// node scripts/update-registry.mjs SOURCE.json --date 2026-01                       the models that are listed already
// node scripts/update-registry.mjs SOURCE.json --date 2026-01 --add openai/gpt-9    and more, by their full ids
// node scripts/update-registry.mjs SOURCE.json --date 2026-01 --out FILE.ts         written elsewhere
//
// What the source does not say keeps its old value; aliases, snapshots, prompts and notes are ours and stay.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { root } from './ensure.mjs';

/** Names of providers that the sources spell otherwise. */
const OURS = new Map([
  ['gemini', 'google'],
  ['moonshotai', 'moonshot'],
  ['togetherai', 'together'],
  ['together_ai', 'together'],
  ['fireworks-ai', 'fireworks'],
  ['fireworks_ai', 'fireworks'],
  ['dashscope', 'alibaba'],
]);
const DATA = `${root}packages/providers/src/registry/data.ts`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { date: { type: 'string' }, add: { type: 'string', multiple: true, default: [] }, out: { type: 'string', default: DATA } },
});
const [sourcePath] = positionals;
if (sourcePath === undefined || values.date === undefined) {
  console.error('Usage: node scripts/update-registry.mjs SOURCE.json --date YYYY-MM [--add PROVIDER/MODEL]… [--out FILE.ts]');
  process.exit(2);
}
let source;
try {
  source = JSON.parse(readFileSync(sourcePath, 'utf8'));
} catch (error) {
  console.error(`${sourcePath} cannot be read as JSON: ${error.message}`);
  process.exit(1);
}
const found = readSource(source);
if (found.size === 0) {
  console.error(`${sourcePath} has no models in a shape that is known (models.dev or LiteLLM).`);
  process.exit(1);
}
const { REGISTRY_DATA } = await import(`${root}packages/providers/dist/registry/data.js`);
const models = structuredClone(REGISTRY_DATA.models);
const changes = { updated: 0, added: 0, missing: [] };
for (const [provider, known] of Object.entries(models)) {
  for (const name of Object.keys(known)) {
    const facts = found.get(`${provider}/${name}`);
    if (!facts) {
      changes.missing.push(`${provider}/${name}`);
      continue;
    }
    known[name] = merged(known[name], facts);
    changes.updated++;
  }
}
for (const id of values.add) {
  const facts = found.get(id);
  if (!facts) {
    console.error(`The source has no model ${id}.`);
    process.exit(1);
  }
  const [provider, name] = [id.slice(0, id.indexOf('/')), id.slice(id.indexOf('/') + 1)];
  models[provider] = { ...models[provider], [name]: merged(models[provider]?.[name], facts) };
  changes.added++;
}
// Everything before the value, imports and comment, stays as it is.
const old = readFileSync(DATA, 'utf8');
const head = old.slice(0, old.indexOf('= {') + 2);
writeFileSync(values.out, `${head}${JSON.stringify({ ...REGISTRY_DATA, date: values.date, models })};\n`);
spawnSync(process.execPath, [`${root}node_modules/@biomejs/biome/bin/biome`, 'format', '--write', values.out], {
  cwd: root,
  stdio: 'ignore',
});
console.log(
  `${changes.updated} models updated, ${changes.added} added; the source does not have ${changes.missing.length}: ${changes.missing.join(', ')}`,
);

/** What was known, brought up to date. */
function merged(known = { can: [] }, { says, ...facts }) {
  const can = Object.keys(says).filter(name => says[name] ?? known.can.includes(name));
  return { ...known, ...facts, can, ...(facts.price ? { price: { ...known.price, ...facts.price } } : {}) };
}

/** Facts by full id, whichever shape the source has. `says`: true or false for each capability; undefined where it is silent. */
function readSource(value) {
  const facts = new Map();
  for (const [key, entry] of Object.entries(value ?? {})) {
    if (typeof entry !== 'object' || entry === null) continue;
    if (typeof entry.models === 'object' && entry.models !== null) {
      const provider = OURS.get(key) ?? key;
      for (const [name, model] of Object.entries(entry.models)) facts.set(`${provider}/${name}`, fromModelsDev(model));
    } else if (typeof entry.litellm_provider === 'string' && entry.mode === 'chat') {
      const provider = OURS.get(entry.litellm_provider) ?? entry.litellm_provider;
      const prefix = `${entry.litellm_provider}/`;
      facts.set(`${provider}/${key.startsWith(prefix) ? key.slice(prefix.length) : key}`, fromLiteLlm(entry));
    }
  }
  return facts;
}

function fromModelsDev({ tool_call, reasoning, structured_output, modalities, limit = {}, cost = {}, status }) {
  const takes = kind => modalities?.input?.includes(kind);
  return compact({
    says: {
      tools: tool_call,
      vision: takes('image'),
      audio: takes('audio'),
      structured: structured_output,
      reasoning,
    },
    context: limit.context,
    output: limit.output,
    // A price that grows with the prompt has no place in the table.
    price: cost.context_over_200k ? undefined : priceOf(cost.input, cost.output, cost.cache_read, cost.cache_write),
    deprecated: status === 'deprecated' ? { note: 'deprecated' } : undefined,
  });
}

function fromLiteLlm(entry) {
  const perMillion = value => (typeof value === 'number' ? Math.round(value * 1e12) / 1e6 : undefined);
  const tiered = Object.keys(entry).some(key => key.includes('_above_'));
  return compact({
    says: {
      tools: entry.supports_function_calling,
      vision: entry.supports_vision,
      audio: entry.supports_audio_input,
      structured: entry.supports_response_schema,
      reasoning: entry.supports_reasoning,
    },
    context: entry.max_input_tokens,
    output: entry.max_output_tokens,
    price: tiered
      ? undefined
      : priceOf(
          perMillion(entry.input_cost_per_token),
          perMillion(entry.output_cost_per_token),
          perMillion(entry.cache_read_input_token_cost),
          perMillion(entry.cache_creation_input_token_cost),
        ),
    deprecated: entry.deprecation_date ? { note: `to end on ${entry.deprecation_date}` } : undefined,
  });
}

function priceOf(input, output, cachedInput, cacheWrite) {
  return typeof input === 'number' && typeof output === 'number' ? compact({ input, output, cachedInput, cacheWrite }) : undefined;
}

function compact(value) {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));
}
