import type { Issue } from '../errors.js';
import { isRecord, jsonFault } from './json.js';
import { isProviderOptions } from './rules.js';

const PARTS: { readonly [role: string]: ReadonlySet<string> } = {
  user: new Set(['text', 'image', 'audio', 'file']),
  assistant: new Set(['text', 'reasoning', 'tool_call', 'source', 'file', 'image']),
  tool: new Set(['text', 'json', 'image', 'file']),
};

/**
 * Every place where a list is not a list of messages; empty when it is. Unknown extra keys are kept and are no fault.
 *
 * ```ts
 * validateMessages([{ role: 'user', content: 5 }]); // [{ path: 'messages[0].content', reason: 'must be a string or …' }]
 * ```
 */
export function validateMessages(value: unknown, path = 'messages'): Issue[] {
  if (!Array.isArray(value)) return [{ path, reason: `must be an array of messages, not ${kindOf(value)}` }];
  return value.flatMap((message, i) => validateMessage(message, `${path}[${i}]`));
}

/** The same for one message; the paths begin with `path`. */
export function validateMessage(message: unknown, path: string): Issue[] {
  if (!isRecord(message)) return [{ path, reason: `must be a message such as user('…'), not ${kindOf(message)}` }];
  const { role, content } = message;
  if (role !== 'system' && role !== 'user' && role !== 'assistant' && role !== 'tool') {
    return [{ path: `${path}.role`, reason: `must be system, user, assistant or tool, not ${JSON.stringify(role)}` }];
  }
  const issues: Issue[] = [];
  if (role === 'tool' && (typeof message.callId !== 'string' || message.callId === '')) {
    issues.push({ path: `${path}.callId`, reason: 'must name the call that this answers' });
  }
  if (typeof content === 'string') return issues;
  if (role === 'system' || !Array.isArray(content)) {
    issues.push({
      path: `${path}.content`,
      reason: `must be a string${role === 'system' ? '' : ' or an array of parts'}, not ${kindOf(content)}`,
    });
    return issues;
  }
  content.forEach((part: unknown, i) => {
    issues.push(...validatePart(part, role, `${path}.content[${i}]`));
  });
  return issues;
}

/** True for what the result of a tool may hold: text, or a list of parts. */
export function isToolContent(content: unknown): boolean {
  return validateMessage({ role: 'tool', callId: 'any', content }, '').length === 0;
}

function validatePart(part: unknown, role: string, path: string): Issue[] {
  if (!isRecord(part) || typeof part.type !== 'string')
    return [{ path, reason: `must be a part such as textPart('…'), not ${kindOf(part)}` }];
  if (!PARTS[role]?.has(part.type))
    return [{ path: `${path}.type`, reason: `${JSON.stringify(part.type)} is no part of a ${role} message` }];
  const need = (key: string, test: boolean, what: string): Issue[] => (test ? [] : [{ path: `${path}.${key}`, reason: `must be ${what}` }]);
  const json = (key: string, value: unknown): Issue[] => {
    const fault = jsonFault(value);
    return fault ? [{ path: `${path}.${key}`, reason: `must be JSON, but ${fault}` }] : [];
  };
  const isOwn = part.providerOptions === undefined || isProviderOptions(part.providerOptions);
  const issues = need('providerOptions', isOwn, 'an object of JSON by provider name, such as { anthropic: {…} }');
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return [...issues, ...need('text', typeof part.text === 'string', 'a string')];
    case 'image':
    case 'file':
      return [
        ...issues,
        ...need('mediaType', typeof part.mediaType === 'string', 'a MIME type'),
        ...need('data', typeof part.data === 'string' || typeof part.url === 'string', 'base64 text (or give a url)'),
      ];
    case 'audio':
      return [
        ...issues,
        ...need('mediaType', typeof part.mediaType === 'string', 'a MIME type'),
        ...need('data', typeof part.data === 'string', 'base64 text'),
      ];
    case 'tool_call':
      return [
        ...need('id', typeof part.id === 'string' && part.id !== '', 'a non-empty string'),
        ...need('name', typeof part.name === 'string', 'a string'),
        ...(isRecord(part.arguments) ? json('arguments', part.arguments) : need('arguments', false, 'an object')),
      ];
    case 'json':
      return json('value', part.value);
    default:
      return [];
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : value === undefined ? 'undefined' : `a ${typeof value}`;
}
