import type { ToolChoice, ToolSpec } from '../adapters/chat.js';
import type { Tool } from '../contract.js';
import { isRecord, type JsonObject } from '../data/json.js';
import { invalidOption } from '../invalid-option.js';
import { toolSpec } from './tool.js';

const HELP = 'tool_help';
const ANY_OBJECT: JsonObject = { type: 'object' };
const NAMES: JsonObject = {
  type: 'object',
  properties: { names: { type: 'array', items: { type: 'string' } } },
  required: ['names'],
  additionalProperties: false,
};
const MAX_SUMMARY = 160;

/** Adds `tool_help` when some tool is compact. Throws `ConfigurationError` when the user's own tool has that name. */
export function withToolHelp(tools: ReadonlyMap<string, Tool>): ReadonlyMap<string, Tool> {
  const compact = [...tools.values()].filter(({ compact }) => compact);
  if (compact.length === 0) return tools;
  if (tools.has(HELP)) {
    throw invalidOption(`A tool named "${HELP}" cannot stand beside compact tools, whose help has that name.`);
  }
  const help: Tool = {
    name: HELP,
    description: 'The full description and argument schema of tools that are marked [compact]. Ask before you call one for the first time.',
    input: NAMES,
    inputSchema: NAMES,
    run: ({ names }: { readonly names: readonly string[] }) => names.map(name => helpFor(name, tools)).join('\n\n'),
  };
  return new Map([...tools, [HELP, help]]);
}

/** The tools as the model sees them: compact ones as stubs, except one that it is made to call. The same list on every step of a run. */
export function wireTools(tools: ReadonlyMap<string, Tool>, choice: ToolChoice | undefined): readonly ToolSpec[] {
  const forced = typeof choice === 'object' ? choice.tool : undefined;
  return [...tools.values()].map(tool => (tool.compact && tool.name !== forced ? stub(tool) : toolSpec(tool)));
}

/** What the model is told of a tool that it asked about, or that it called wrongly. */
export function helpFor(name: string, tools: ReadonlyMap<string, Tool>): string {
  const found = tools.get(name);
  const known = [...tools.keys()].filter(key => key !== HELP);
  if (!found) return noSuchTool(name, known);
  return `${found.name}: ${found.description}\nArguments (JSON Schema): ${JSON.stringify(found.inputSchema)}`;
}

/** What the model is told when it calls a tool that does not exist. */
export function noSuchTool(name: string, known: readonly string[]): string {
  return `There is no tool "${name}". ${known.length > 0 ? `The tools are: ${known.join(', ')}.` : 'No tools are available.'}`;
}

function stub({ name, description, summary, inputSchema }: Tool): ToolSpec {
  return { name, description: `${summary ?? firstSentence(description)}${argumentHint(inputSchema)} [compact]`, inputSchema: ANY_OBJECT };
}

function firstSentence(description: string): string {
  const [first] = [...new Intl.Segmenter('en', { granularity: 'sentence' }).segment(description)];
  const sentence = (first?.segment ?? description).trim();
  return sentence.length <= MAX_SUMMARY ? sentence : `${[...sentence].slice(0, MAX_SUMMARY - 1).join('')}…`;
}

/** ` Args: city, [unit].` – the required ones first. */
function argumentHint(schema: JsonObject): string {
  if (!isRecord(schema.properties)) return '';
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const optional = Object.keys(schema.properties).filter(name => !required.includes(name));
  const names = [...required, ...optional.sort().map(name => `[${name}]`)];
  return ` Args: ${names.length > 0 ? names.join(', ') : 'none'}.`;
}
