// Pictures and files on their way to Google: bytes inline, addresses as they are.
import { type FilePart, type ImagePart, user } from '@antiphon/engine';
import { gemini } from '@antiphon/providers';
import { describe, expect, it } from 'vitest';
import { contextOf } from './support/run.js';

async function sent(part: ImagePart | FilePart, api: 'generate-content' | 'interactions') {
  const { body } = await gemini({ model: 'gemini-3-flash-preview', api }).prepare!({ messages: [user([part])] }, contextOf());
  const { contents, input } = JSON.parse(body);
  return api === 'interactions' ? input[0].content[0] : contents[0].parts[0];
}

describe('the bytes of a data URL go inline', () => {
  it.each<[string, ImagePart | FilePart, object, object]>([
    [
      'a picture, with its own type',
      { type: 'image', mediaType: 'image/*', url: 'data:image/png;base64,AAAA' },
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
      { type: 'image', mime_type: 'image/png', data: 'AAAA' },
    ],
    [
      'sound that needs its parameters',
      { type: 'file', mediaType: 'audio/l16', url: 'DATA:audio/l16;rate=24000;BASE64,AAAA' },
      { inlineData: { mimeType: 'audio/l16;rate=24000', data: 'AAAA' } },
      { type: 'audio', mime_type: 'audio/l16;rate=24000', data: 'AAAA' },
    ],
    [
      'a file whose type stands beside it',
      { type: 'file', mediaType: 'application/pdf', url: 'data:;base64,AAAA' },
      { inlineData: { mimeType: 'application/pdf', data: 'AAAA' } },
      { type: 'document', mime_type: 'application/pdf', data: 'AAAA' },
    ],
    [
      'an address stays one',
      { type: 'file', mediaType: 'video/mp4', url: 'https://tube.test/1' },
      { fileData: { mimeType: 'video/mp4', fileUri: 'https://tube.test/1' } },
      { type: 'video', mime_type: 'video/mp4', uri: 'https://tube.test/1' },
    ],
  ])('%s', async (_, part, content, step) => {
    expect([await sent(part, 'generate-content'), await sent(part, 'interactions')]).toEqual([content, step]);
  });
});
