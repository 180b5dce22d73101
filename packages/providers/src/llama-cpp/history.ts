import type { AssistantMessage, AudioPart, FilePart, ImagePart, Json, Message, ToolMessage, UserPart, Warning } from '@antiphon/engine';
import { withCallIds } from '../hand-over/call-ids.js';
import { holdsState, leaveCitations, leaveReasoning } from '../hand-over/left-behind.js';
import { warnOnce } from '../http/warnings.js';
import { fileText } from '../media/media-type.js';
import type { HistoryItem, ResponseItem } from './binding.js';

/**
 * The conversation in node-llama-cpp's terms. Calls and their results stand inside the model's answer there, and what follows them goes on in
 * the same answer. The last item is always the model's: the answer that is to be written. What cannot be said is replaced by a note and
 * told in `warnings`.
 */
export function toHistory(thread: readonly Message[], warnings: Warning[]): HistoryItem[] {
  // Results are found by id, so that each call must have its own.
  const messages = withCallIds(thread, 'any');
  const results = new Map<string, ToolMessage>();
  for (const message of messages) if (message.role === 'tool') results.set(message.callId, message);
  const history: HistoryItem[] = [];
  /** The open answer; results keep it open. */
  let response: ResponseItem[] | undefined;
  let afterTools = false;
  for (const message of messages) {
    switch (message.role) {
      case 'system':
      case 'user':
        response = undefined;
        history.push({ type: message.role, text: message.role === 'system' ? message.content : userText(message.content, warnings) });
        break;
      case 'assistant':
        if (!response || !afterTools) {
          response = [];
          history.push({ type: 'model', response });
        }
        response.push(...answerItems(message, results, warnings));
        afterTools = false;
        break;
      case 'tool':
        afterTools = true;
        break;
    }
  }
  if (!response || !afterTools) history.push({ type: 'model', response: [] });
  return history;
}

function userText(content: string | readonly UserPart[], warnings: Warning[]): string {
  if (typeof content === 'string') return content;
  return content.map(part => (part.type === 'text' ? part.text : wordsOf(part, warnings))).join('\n');
}

function answerItems(message: AssistantMessage, results: ReadonlyMap<string, ToolMessage>, warnings: Warning[]): ResponseItem[] {
  if (typeof message.content === 'string') return message.content === '' ? [] : [message.content];
  const items: ResponseItem[] = [];
  let startsNewChunk = true;
  for (const part of message.content) {
    switch (part.type) {
      case 'text':
        items.push(part.text);
        break;
      case 'reasoning':
        if (part.text !== '') items.push({ type: 'segment', segmentType: 'thought', text: part.text, ended: true });
        else leaveReasoning(part, 'llamaCpp', warnings);
        break;
      case 'tool_call':
        items.push({
          type: 'functionCall',
          name: part.name,
          params: part.arguments,
          result: resultOf(results.get(part.id), warnings),
          startsNewChunk,
        });
        startsNewChunk = false;
        break;
      case 'image':
      case 'file':
        items.push(wordsOf(part, warnings));
        break;
      // Sources are about the answer, not of it.
      case 'source':
        break;
    }
  }
  if (holdsState(message, () => true)) leaveCitations(message, 'llamaCpp', warnings);
  return items;
}

function resultOf(message: ToolMessage | undefined, warnings: Warning[]): Json {
  if (!message) return { error: 'The tool was not run.' };
  const value = contentOf(message.content, warnings);
  return message.isError ? { error: value } : value;
}

function contentOf(content: ToolMessage['content'], warnings: Warning[]): Json {
  if (typeof content === 'string') return content;
  const [only] = content;
  if (content.length === 1 && only?.type === 'json') return only.value;
  return content
    .map(part => {
      if (part.type === 'text') return part.text;
      return part.type === 'json' ? JSON.stringify(part.value) : wordsOf(part, warnings);
    })
    .join('\n');
}

/** A file of text as it is, a note for anything else. */
function wordsOf(part: ImagePart | AudioPart | FilePart, warnings: Warning[]): string {
  const text = part.type === 'file' ? fileText(part) : undefined;
  if (text !== undefined) return text;
  const what = `${part.type} (${part.mediaType})`;
  warnOnce(warnings, 'other', `llamaCpp takes text only; the ${what} was replaced by a note.`);
  return `[${what} that cannot be shown]`;
}
