import type { ReasoningEffort } from '@antiphon/engine';
import type { CallIdRule } from '../hand-over/call-ids.js';
import type { ToolNameRule } from '../hand-over/tool-names.js';

/**
 * How one server differs from the others of this dialect: data, not code. Each flag names one habit of the wire; `openaiChat` guesses the
 * profile from the base URL, and any flag can be overridden: `profile: { name: 'vllm', systemRole: 'developer' }`.
 */
export interface Profile {
  /** Name of the provider in errors, provider options and provider state. */
  readonly name: string;
  /** Host names, or their endings when they begin with a dot. */
  readonly hosts: readonly string[];
  /** On this machine a server is known by its usual port. */
  readonly port?: number;
  /** What stands before `/chat/completions` when the base URL has no path. */
  readonly root: string;
  /** Environment variable that holds the key. */
  readonly keyName?: string;
  /** A request without a key is refused before it is sent. */
  readonly needsKey: boolean;
  readonly keyHeader: 'authorization' | 'api-key';
  /** What to do when no server answers. */
  readonly unreachableHint?: string;
  readonly systemRole: 'system' | 'developer';
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  readonly seedField: 'seed' | 'random_seed';
  /** Ask for usage with `stream_options`; some servers send it anyway and refuse the field. */
  readonly askUsage: boolean;
  /** How the effort of reasoning is said. */
  readonly effort: 'reasoning_effort' | 'reasoning' | 'thinking' | 'enable_thinking' | 'unsupported';
  /** The efforts that the server knows; another becomes the nearest one, with a warning. */
  readonly efforts: readonly ReasoningEffort[];
  /** The field in which earlier reasoning is sent back, where the server wants it. */
  readonly replayReasoning: 'reasoning_content' | 'reasoning' | 'reasoning_details' | 'reasoning_opaque' | 'none';
  /** While it thinks, the server refuses a call in the history without a word of reasoning before it. */
  readonly wantsReasoning: boolean;
  readonly toolCallIds: CallIdRule;
  readonly toolNames: ToolNameRule;
  /** `auto-only`: the server ignores or refuses a forced choice. */
  readonly toolChoice: 'full' | 'auto-only';
  /**
   * `strict`: the model speaks between a tool and the user, and instructions stand at the beginning or behind the user. `alternating`: the user
   * begins, and user and model take turns.
   */
  readonly roleOrder: 'any' | 'strict' | 'alternating';
  /** Content may be a list of parts; elsewhere it is text alone. */
  readonly contentLists: boolean;
  /** Content of an assistant message that only has tool calls. */
  readonly emptyContent: null | '';
  /** The server holds answers to a JSON Schema (`response_format`). Where it does not, the engine uses a tool instead. */
  readonly structuredOutput: boolean;
  /** Takes `prompt_cache_key`; others cache by themselves or not at all. */
  readonly promptCacheKey: boolean;
  readonly images: boolean;
  readonly audio: boolean;
  readonly files: boolean;
  /** Files may be named by their address. */
  readonly fileUrls: boolean;
  /** `completion_tokens` leave reasoning out. */
  readonly reasoningApart: boolean;
  /** The server shows calls of tools that it runs itself like the caller's: a call that the request does not offer may wait for nobody. */
  readonly showsOwnCalls: boolean;
  /** Settings that the server does not have. */
  readonly unsupported: readonly ('temperature' | 'topP' | 'stop' | 'seed' | 'maxTokens')[];
}

/** From the least to the most. */
export const ALL_EFFORTS: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high'];

/** A server that nobody knows: the common part of the dialect, nothing refused in advance. */
const GENERIC: Profile = {
  name: 'openai-compatible',
  hosts: [],
  root: '/v1',
  needsKey: false,
  keyHeader: 'authorization',
  systemRole: 'system',
  maxTokensField: 'max_tokens',
  seedField: 'seed',
  askUsage: true,
  effort: 'reasoning_effort',
  efforts: ALL_EFFORTS,
  replayReasoning: 'none',
  wantsReasoning: false,
  toolCallIds: 'any',
  toolNames: 'word-64',
  toolChoice: 'full',
  roleOrder: 'any',
  contentLists: true,
  emptyContent: null,
  structuredOutput: false,
  promptCacheKey: false,
  images: true,
  audio: true,
  files: true,
  fileUrls: true,
  reasoningApart: false,
  showsOwnCalls: false,
  unsupported: [],
};

/** What is common to servers that have a name. */
const KNOWN: Profile = { ...GENERIC, structuredOutput: true, audio: false, files: false };

/** OpenAI's models, at its own host and at Microsoft's. */
const OPENAI: Partial<Profile> = {
  maxTokensField: 'max_completion_tokens',
  toolCallIds: 'max-40',
  audio: true,
  files: true,
  fileUrls: false,
};

/** Models whose thinking is only switched on or off, and is shown. */
const SWITCHED: Partial<Profile> = {
  structuredOutput: false,
  effort: 'thinking',
  replayReasoning: 'reasoning_content',
  emptyContent: '',
  unsupported: ['seed'],
};

function hosted(name: string, hosts: readonly string[], keyName: string, flags: Partial<Profile> = {}): Profile {
  return { ...KNOWN, name, hosts, keyName, needsKey: true, ...flags };
}

function local(name: string, port: number, unreachableHint: string, flags: Partial<Profile> = {}): Profile {
  return { ...KNOWN, name, port, unreachableHint, ...flags };
}

/** The servers that are known, by name. */
export const PROFILES: readonly Profile[] = [
  GENERIC,
  hosted('openai', ['api.openai.com', '.api.openai.com'], 'OPENAI_API_KEY', {
    promptCacheKey: true,
    ...OPENAI,
  }),
  hosted('azure', ['.openai.azure.com', '.cognitiveservices.azure.com', '.services.ai.azure.com'], 'AZURE_OPENAI_API_KEY', {
    root: '/openai/v1',
    keyHeader: 'api-key',
    ...OPENAI,
  }),
  local('ollama', 11434, 'start Ollama with `ollama serve`, or set baseURL to where it runs', {
    efforts: ['none', 'low', 'medium', 'high'],
    toolChoice: 'auto-only',
    replayReasoning: 'reasoning',
    emptyContent: '',
  }),
  local('llama.cpp', 8080, 'start it with `llama-server -m MODEL.gguf`, or set baseURL to where it runs', {
    audio: true,
    replayReasoning: 'reasoning_content',
  }),
  local('lmstudio', 1234, 'start the server in LM Studio or with `lms server start`, or set baseURL to where it runs'),
  local('sglang', 30000, 'start it with `python -m sglang.launch_server --model-path MODEL`, or set baseURL to where it runs', {
    replayReasoning: 'reasoning_content',
  }),
  local('vllm', 8000, 'start it with `vllm serve MODEL`, or set baseURL to where it runs', { audio: true }),
  hosted('deepseek', ['api.deepseek.com'], 'DEEPSEEK_API_KEY', {
    ...SWITCHED,
    wantsReasoning: true,
    contentLists: false,
    images: false,
  }),
  hosted('groq', ['api.groq.com'], 'GROQ_API_KEY', {
    root: '/openai/v1',
    maxTokensField: 'max_completion_tokens',
    efforts: ['none', 'low', 'medium', 'high'],
    replayReasoning: 'reasoning',
  }),
  hosted('mistral', ['api.mistral.ai', 'codestral.mistral.ai'], 'MISTRAL_API_KEY', {
    seedField: 'random_seed',
    askUsage: false,
    efforts: ['none', 'high'],
    toolCallIds: 'nine-alphanumeric',
    roleOrder: 'strict',
    emptyContent: '',
    audio: true,
  }),
  hosted('xai', ['api.x.ai', '.api.x.ai'], 'XAI_API_KEY', { efforts: ['low', 'high'], reasoningApart: true, showsOwnCalls: true }),
  hosted('openrouter', ['openrouter.ai'], 'OPENROUTER_API_KEY', {
    root: '/api/v1',
    effort: 'reasoning',
    replayReasoning: 'reasoning_details',
    toolCallIds: 'max-40',
    audio: true,
    files: true,
  }),
  hosted('together', ['api.together.xyz', 'api.together.ai'], 'TOGETHER_API_KEY'),
  hosted('fireworks', ['api.fireworks.ai'], 'FIREWORKS_API_KEY', { root: '/inference/v1', replayReasoning: 'reasoning_content' }),
  hosted('cerebras', ['api.cerebras.ai'], 'CEREBRAS_API_KEY', {
    maxTokensField: 'max_completion_tokens',
    efforts: ['none', 'low', 'medium', 'high'],
    replayReasoning: 'reasoning',
    images: false,
  }),
  hosted('moonshot', ['api.moonshot.ai', 'api.moonshot.cn'], 'MOONSHOT_API_KEY', {
    ...SWITCHED,
    wantsReasoning: true,
  }),
  hosted(
    'alibaba',
    ['dashscope.aliyuncs.com', '.dashscope.aliyuncs.com', 'dashscope-intl.aliyuncs.com', 'dashscope-us.aliyuncs.com'],
    'DASHSCOPE_API_KEY',
    {
      root: '/compatible-mode/v1',
      structuredOutput: false,
      effort: 'enable_thinking',
      emptyContent: '',
      audio: true,
    },
  ),
  hosted('perplexity', ['api.perplexity.ai'], 'PERPLEXITY_API_KEY', {
    root: '',
    askUsage: false,
    toolChoice: 'auto-only',
    roleOrder: 'alternating',
    efforts: ['minimal', 'low', 'medium', 'high'],
    showsOwnCalls: true,
    unsupported: ['seed', 'stop'],
  }),
  hosted('zai', ['api.z.ai', 'open.bigmodel.cn'], 'ZAI_API_KEY', {
    ...SWITCHED,
    root: '/api/paas/v4',
    toolChoice: 'auto-only',
  }),
  hosted('google', ['generativelanguage.googleapis.com'], 'GEMINI_API_KEY', {
    root: '/v1beta/openai',
    toolNames: 'letter-first-64',
    audio: true,
    unsupported: ['seed'],
  }),
  hosted('deepinfra', ['api.deepinfra.com'], 'DEEPINFRA_API_KEY', { root: '/v1/openai' }),
  hosted('sambanova', ['api.sambanova.ai'], 'SAMBANOVA_API_KEY'),
  hosted('nvidia', ['integrate.api.nvidia.com'], 'NVIDIA_API_KEY'),
  hosted('huggingface', ['router.huggingface.co'], 'HF_TOKEN'),
  hosted('github-copilot', ['api.githubcopilot.com', '.githubcopilot.com'], 'GITHUB_COPILOT_TOKEN', {
    root: '',
    structuredOutput: false,
    replayReasoning: 'reasoning_opaque',
  }),
  hosted('github', ['models.github.ai'], 'GITHUB_TOKEN', { root: '/inference' }),
];

/** What `openaiChat({ profile })` takes: a known name, or flags on top of the profile with that name (or of the guessed one). */
export type ProfileOption = string | Partial<Omit<Profile, 'hosts' | 'port' | 'root'>>;

/** The profile with this name; undefined when there is none. */
export function profileNamed(name: string): Profile | undefined {
  return PROFILES.find(profile => profile.name === name);
}

/** The profile of the server at this address. */
export function guessProfile(url: URL): Profile {
  const host = url.hostname.toLowerCase();
  const byHost = PROFILES.find(({ hosts }) => hosts.some(known => (known.startsWith('.') ? host.endsWith(known) : host === known)));
  if (byHost) return byHost;
  const byPort = isLocal(host) ? PROFILES.find(({ port }) => port !== undefined && String(port) === url.port) : undefined;
  return byPort ?? GENERIC;
}

function isLocal(host: string): boolean {
  return (
    // A name without a dot is that of another container, or of a machine on the same network.
    !/[.:]/.test(host) ||
    host === 'host.docker.internal' ||
    host === '[::1]' ||
    host === '0.0.0.0' ||
    host.startsWith('127.') ||
    host.endsWith('.local') ||
    host.startsWith('192.168.') ||
    /^172\.(1[6-9]|2\d|3[01])\./.test(host) ||
    host.startsWith('10.')
  );
}
