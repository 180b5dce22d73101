// Fields that one provider knows for a part of a message, in its own words.
import {
  createEngine,
  filePart,
  imagePart,
  type Message,
  type PartOptions,
  textPart,
  toolResult,
  type UserPart,
  user,
} from '@antiphon/engine';
import { anthropic, gemini, openaiChat, openaiResponses } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';
import { call, through } from './support/hand-over.js';

const pdf = filePart(new Uint8Array([37, 80, 68, 70]), 'application/pdf', 'a.pdf');
const picture = imagePart(new Uint8Array([1]), 'image/png');
const given = <P extends UserPart>(part: P, providerOptions: PartOptions): P => ({ ...part, providerOptions });
const adapters = {
  anthropic: anthropic({ model: 'm', apiKey: 'k' }),
  openaiChat: openaiChat({ model: 'm', apiKey: 'k', profile: 'openai' }),
  azure: openaiChat({ model: 'm', apiKey: 'k', baseURL: 'https://x.openai.azure.com' }),
  openaiResponses: openaiResponses({ model: 'm', apiKey: 'k' }),
  gemini: gemini({ model: 'm', apiKey: 'k' }),
  interactions: gemini({ model: 'm', apiKey: 'k', api: 'interactions' }),
};
const bodyOf = async (name: keyof typeof adapters, messages: readonly Message[]) =>
  JSON.parse((await through(adapters[name])(messages)).body);

describe('options of a part', () => {
  test('anthropic: a document that may be cited, a text that ends the cached beginning, a picture of a tool', async () => {
    const citations = { enabled: true };
    const cache_control = { type: 'ephemeral' };
    const { messages } = await bodyOf('anthropic', [
      user([given(pdf, { anthropic: { citations } }), given(textPart('Who?'), { anthropic: { cache_control }, gemini: { x: 1 } })]),
      { role: 'assistant', content: [call('call_1')] },
      toolResult('call_1', [given(picture, { anthropic: { cache_control } })]),
    ]);
    expect(messages[0].content).toEqual([
      { type: 'document', source: expect.anything(), title: 'a.pdf', citations },
      { type: 'text', text: 'Who?', cache_control },
    ]);
    expect(messages[2].content[0].content).toEqual([{ type: 'image', source: expect.anything(), cache_control }]);
  });

  test.each(['openaiChat', 'azure', 'openaiResponses'] as const)(
    '%s: those for openai count wherever its protocol is spoken',
    async name => {
      const { messages, input } = await bodyOf(name, [
        user([given(textPart('Hi'), { openai: { mark: 1 } }), given(picture, { openai: { detail: 'low' } })]),
      ]);
      expect((messages ?? input)[0].content).toEqual([
        expect.objectContaining({ text: 'Hi', mark: 1 }),
        expect.objectContaining({ detail: 'low' }),
      ]);
    },
  );

  test('gemini: how a video is seen', async () => {
    const video = filePart({ url: 'https://youtu.be/x' }, 'video/mp4');
    const messages = [user([given(video, { gemini: { videoMetadata: { fps: 2 } } })])];
    expect((await bodyOf('gemini', messages)).contents[0].parts[0]).toMatchObject({ videoMetadata: { fps: 2 } });
    expect((await bodyOf('interactions', messages)).input[0].content[0]).toMatchObject({ videoMetadata: { fps: 2 } });
  });

  test('a note that stands for a part has no place for them', async () => {
    const odd = given(filePart(new Uint8Array([1]), 'application/x-odd'), { anthropic: { citations: { enabled: true } } });
    const { messages } = await bodyOf('anthropic', [user([odd])]);
    expect(messages[0].content).toEqual([{ type: 'text', text: '[file (application/x-odd) that cannot be shown]' }]);
  });

  test('that are no JSON by provider are refused', async () => {
    for (const wrong of [5, { anthropic: 5 }, { anthropic: { x: () => 1 } }]) {
      const message = user([given(textPart('Hi'), wrong as never)]);
      await expect(createEngine({ chat: adapters.anthropic }).chat([message])).rejects.toThrow(/providerOptions must be an object of JSON/);
    }
  });
});
