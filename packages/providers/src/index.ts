export type { Fetch } from './http/exchange.js';
export type { ApiKey } from './http/keys.js';
export { type OpenaiChatOptions, openaiChat } from './openai-chat/adapter.js';
export type { Profile, ProfileOption } from './openai-chat/profiles.js';
