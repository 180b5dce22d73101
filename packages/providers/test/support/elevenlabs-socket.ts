// Twins of ElevenLabs' two sockets: they demand what the real ones demand, and close with their codes.
import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { base64, sine } from './sound-server.js';

export interface Spoken {
  /** Everything that was received as text to speak. */
  text: string;
  messages: Record<string, unknown>[];
  flushed: boolean;
}

/** `stream-input`: a first message with a space, text with a space at its end, an empty text last. Each character sounds for 10 ms. */
export function speakingTwin(spoken: Spoken, hook?: (point: string, socket: WebSocket) => boolean | undefined) {
  return (socket: WebSocket, req: IncomingMessage) => {
    const at = (point: string) => hook?.(point, socket) === true;
    const url = new URL(req.url ?? '', 'ws://x');
    if (req.headers['xi-api-key'] !== 'secret-key-123') return socket.close(1008, `invalid_api_key: ${req.headers['xi-api-key']}`);
    if (!url.searchParams.get('model_id')) return socket.close(1008, 'A model_id is required');
    if (!/^(pcm|mp3|ulaw|alaw|opus|wav)_\d+/.test(url.searchParams.get('output_format') ?? ''))
      return socket.close(1008, 'bad output_format');
    if (at('open')) return;
    let begun = false;
    let pending = '';
    const speak = (text: string) => {
      if (text.trim() === '') return;
      const chars = [...text];
      const audio = base64(sine(chars.length * 240));
      socket.send(
        JSON.stringify({
          audio,
          isFinal: null,
          alignment: {
            chars,
            charStartTimesMs: chars.map((_, i) => i * 10),
            charDurationsMs: chars.map(() => 10),
          },
        }),
      );
    };
    socket.on('message', (data, isBinary) => {
      if (isBinary) return socket.close(1003, 'text only');
      const message = JSON.parse(String(data)) as Record<string, unknown>;
      spoken.messages.push(message);
      if (typeof message.text !== 'string') return socket.close(1008, 'Message must have text');
      if (!begun) {
        if (message.text !== ' ') return socket.close(1008, 'The first text must be a space');
        begun = true;
        at('begun');
        return;
      }
      if (message.text === '') {
        if (at('end of text')) return;
        speak(pending);
        if (at('before final')) return;
        socket.send(JSON.stringify({ audio: null, isFinal: true }));
        socket.close(1000);
        return;
      }
      if (!/[\s。]$/.test(message.text)) return socket.close(1008, 'The text must end with a space');
      spoken.text += message.text;
      if (at('text')) return;
      pending += message.text;
      if (message.flush === true) spoken.flushed = true;
      if (pending.length >= 12 || message.flush === true) {
        speak(pending);
        pending = '';
        at('audio');
      }
    });
  };
}

/** Realtime transcription: a second of sound is a segment in `vad`; `commit` ends one. The text is the number of bytes heard. */
export function listeningTwin(heard: { bytes: number; commits: number }, hook?: (point: string, socket: WebSocket) => boolean | undefined) {
  return (socket: WebSocket, req: IncomingMessage) => {
    const at = (point: string) => hook?.(point, socket) === true;
    const { searchParams } = new URL(req.url ?? '', 'ws://x');
    const say = (value: object) => socket.send(JSON.stringify(value));
    if (req.headers['xi-api-key'] !== 'secret-key-123') {
      say({ message_type: 'auth_error', error: `You must be authenticated (${req.headers['xi-api-key']})` });
      return socket.close(1008);
    }
    const rate = Number(/^pcm_(\d+)$/.exec(searchParams.get('audio_format') ?? '')?.[1]);
    if (!searchParams.get('model_id') || !rate) return socket.close(1008, 'invalid_request: model_id and audio_format');
    const timed = searchParams.get('include_timestamps') === 'true';
    const vad = searchParams.get('commit_strategy') === 'vad';
    if (at('open')) return;
    say({ message_type: 'session_started', session_id: 's1', config: {} });
    let open = 0;
    const segment = () => {
      const text = open === 0 ? '' : `heard ${open}`;
      open = 0;
      say({ message_type: 'committed_transcript', text });
      if (!timed) return;
      const words = text
        .split(' ')
        .map((word, i) => ({ text: word, start: i * 0.5, end: i * 0.5 + 0.4, type: 'word', logprob: -0.25, speaker_id: 'speaker_0' }));
      say({ message_type: 'committed_transcript_with_timestamps', text, language_code: 'en', words });
    };
    socket.on('message', data => {
      const message = JSON.parse(String(data)) as Record<string, unknown>;
      if (
        message.message_type !== 'input_audio_chunk' ||
        typeof message.audio_base_64 !== 'string' ||
        typeof message.commit !== 'boolean'
      ) {
        say({ message_type: 'input_error', error: 'audio_base_64 and commit are required' });
        return socket.close(1008);
      }
      const bytes = Buffer.from(message.audio_base_64, 'base64').length;
      if (bytes % 2 === 1 || bytes > rate * 2 || message.sample_rate !== rate) {
        say({ message_type: 'input_error', error: 'bad chunk' });
        return socket.close(1008);
      }
      heard.bytes += bytes;
      open += bytes;
      if (bytes > 0 && at('audio')) return;
      if (bytes > 0) say({ message_type: 'partial_transcript', text: `so far ${open}` });
      if (message.commit) {
        heard.commits++;
        if (at('commit')) return;
        if (open < rate * 0.6) {
          open = 0;
          say({ message_type: 'commit_throttled', error: 'Commit request ignored: only 0.0s of uncommitted audio.' });
        } else segment();
      } else if (vad && open >= rate * 2) segment();
    });
  };
}
