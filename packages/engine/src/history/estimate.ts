import type { Message } from '../data/messages.js';

/** Characters of one token, in prose of most languages and in JSON. */
const CHARS_PER_TOKEN = 4;
/** What a provider adds around each message. */
const MESSAGE_TOKENS = 4;
/** What a picture, a page or a minute of sound costs at most providers, to the order of magnitude. */
const MEDIA_TOKENS = 1000;

/**
 * A rough count of the tokens that messages cost, without a tokenizer: good to about a third, and never zero. Text of scripts without
 * spaces counts a token a character.
 *
 * ```ts
 * estimateTokens([user('What is the capital of France?')]); // 12
 * ```
 */
export function estimateTokens(messages: readonly Message[]): number {
  let tokens = 0;
  for (const message of messages) {
    tokens += MESSAGE_TOKENS;
    if (typeof message.content === 'string') {
      tokens += textTokens(message.content);
      continue;
    }
    for (const part of message.content) {
      switch (part.type) {
        case 'text':
        case 'reasoning':
          tokens += textTokens(part.text);
          break;
        case 'tool_call':
          tokens += textTokens(part.name) + textTokens(part.rawArguments) + MESSAGE_TOKENS;
          break;
        case 'json':
          tokens += textTokens(JSON.stringify(part.value));
          break;
        case 'source':
          break;
        default:
          tokens += MEDIA_TOKENS;
      }
    }
  }
  return tokens;
}

function textTokens(text: string): number {
  let dense = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    // Kana, Han, Hangul and their neighbours.
    if (code >= 0x2e80 && code <= 0xd7ff) dense++;
  }
  return dense + Math.ceil((text.length - dense) / CHARS_PER_TOKEN);
}
