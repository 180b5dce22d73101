// A twin of OpenAI's realtime transcription: order of messages, formats and limits as the real one has them.
import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';

export interface Heard {
  session?: Record<string, unknown>;
  bytes: number;
  commits: number;
}

/** One second of sound at 24 000 Hz is a segment for `server_vad`. Segments are transcribed out of order: each second one is done first. */
export function realtimeTwin(heard: Heard, hook?: (point: string, socket: WebSocket) => boolean | undefined) {
  return (socket: WebSocket, req: IncomingMessage) => {
    const at = (point: string) => hook?.(point, socket) === true;
    const say = (value: object) => socket.send(JSON.stringify(value));
    const fail = (code: string, message: string) => say({ type: 'error', error: { type: 'invalid_request_error', code, message } });
    if (req.headers.authorization !== 'Bearer secret-key-123') {
      fail('invalid_api_key', `Incorrect API key provided: ${req.headers.authorization}.`);
      return socket.close(3000, 'invalid_request_error.invalid_api_key');
    }
    if (new URL(req.url ?? '', 'ws://x').search !== '?intent=transcription') return socket.close(4000, 'invalid_request_error.bad_intent');
    if (at('open')) return;
    say({ type: 'session.created', session: { type: 'transcription' } });
    let buffer = 0;
    let count = 0;
    let late: (() => void) | undefined;
    const transcribe = () => {
      const id = `item_${++count}`;
      const text = `segment ${count} of ${buffer}`;
      buffer = 0;
      heard.commits++;
      say({ type: 'input_audio_buffer.committed', item_id: id, previous_item_id: null });
      const done = () => {
        say({ type: 'conversation.item.input_audio_transcription.delta', item_id: id, content_index: 0, delta: text.slice(0, 7) });
        say({ type: 'conversation.item.input_audio_transcription.delta', item_id: id, content_index: 0, delta: text.slice(7) });
        const logprobs = [{ token: text, logprob: -0.5, bytes: [] }];
        const usage = { type: 'tokens', input_tokens: 10, output_tokens: 3, total_tokens: 13 };
        say({
          type: 'conversation.item.input_audio_transcription.completed',
          item_id: id,
          content_index: 0,
          transcript: text,
          logprobs,
          usage,
        });
      };
      if (late) {
        done();
        late();
        late = undefined;
      } else late = done;
    };
    socket.on('message', data => {
      const message = JSON.parse(String(data)) as Record<string, unknown>;
      if (message.type === 'session.update') {
        heard.session = message.session as Record<string, unknown>;
        const { input } = heard.session.audio as { input: { format: { type: string; rate: number } } };
        if (heard.session.type !== 'transcription' || input.format.type !== 'audio/pcm' || input.format.rate !== 24_000) {
          return fail('invalid_value', 'Only audio/pcm of 24000 is taken.');
        }
        const { transcription, turn_detection } = input as {
          transcription?: { model?: string; prompt?: string };
          turn_detection?: unknown;
        };
        if (/^gpt-(live-transcribe|realtime-whisper)/.test(transcription?.model ?? '') && (turn_detection ?? null) !== null) {
          return fail('invalid_value', 'Turn detection is not supported for this transcription model');
        }
        if (at('session')) return;
        return say({ type: 'session.updated', session: heard.session });
      }
      if (!heard.session) return fail('no_session', 'session.update comes first');
      const vad = (heard.session.audio as { input: { turn_detection: unknown } }).input.turn_detection !== null;
      if (message.type === 'input_audio_buffer.append') {
        const bytes = Buffer.from(String(message.audio), 'base64').length;
        heard.bytes += bytes;
        if (at('audio')) return;
        if (vad && buffer === 0) say({ type: 'input_audio_buffer.speech_started', item_id: `item_${count + 1}` });
        buffer += bytes;
        if (vad && buffer >= 48_000) {
          say({ type: 'input_audio_buffer.speech_stopped' });
          transcribe();
        }
      } else if (message.type === 'input_audio_buffer.commit') {
        if (at('commit')) return;
        if (buffer < 4_800) fail('input_audio_buffer_commit_empty', 'Error committing input audio buffer: buffer too small.');
        else transcribe();
      } else if (message.type === 'input_audio_buffer.clear') {
        buffer = 0;
        say({ type: 'input_audio_buffer.cleared' });
        if (at('clear')) return;
        late?.();
        late = undefined;
      } else fail('unknown', `Unknown type ${message.type}`);
    });
  };
}
