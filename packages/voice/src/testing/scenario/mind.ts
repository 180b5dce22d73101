// The model and the voice of a scenario.
import { type Clock, sleep } from '@antiphon/engine';
import type { LlmBackend, ReplyEvent } from '../../interfaces/llm-backend.js';
import type { TextToSpeech } from '../../interfaces/tts.js';
import { orAborted } from '../../reply/or-aborted.js';
import { wordsOf } from '../../turns/words.js';
import type { Scenario, ScenarioAnswer } from './scenario.js';

const RATE = 16_000;

/** A model that answers by what it is asked. */
export function scenarioLlm(answers: readonly ScenarioAnswer[], clock: Clock): LlmBackend {
  const failed = new Map<ScenarioAnswer, number>();
  let calls = 0;
  const choose = (asked: string): ScenarioAnswer | undefined =>
    answers.find(answer => {
      if (!matches(answer.when, asked)) return false;
      if (answer.error === undefined || answer.times === undefined) return true;
      const count = failed.get(answer) ?? 0;
      failed.set(answer, count + 1);
      return count < answer.times;
    });
  return {
    name: 'scenario',
    async *reply(asked, { signal, confirmed }): AsyncGenerator<ReplyEvent> {
      const answer = choose(asked);
      if (!answer) throw new Error(`The scenario has no answer to ${JSON.stringify(asked)}.`);
      const { firstTokenMs = 0, text = '', tools = [], then } = answer;
      if (answer.error !== undefined) {
        await sleep(clock, firstTokenMs, signal);
        throw new Error(answer.error);
      }
      yield* speakOut(text, answer, clock, signal);
      if (tools.length > 0 && confirmed) await orAborted(confirmed, signal);
      signal.throwIfAborted();
      const running = tools.map(tool => ({ tool, callId: `call_${++calls}`, done: sleep(clock, tool.ms ?? 0, signal) }));
      for (const { done } of running) done.catch(() => {});
      for (const { tool, callId } of running) yield { type: 'tool_start', callId, name: tool.name };
      for (const { tool, callId, done } of [...running].sort((a, b) => (a.tool.ms ?? 0) - (b.tool.ms ?? 0))) {
        await done;
        yield { type: 'tool_end', callId, name: tool.name };
      }
      if (then !== undefined) yield* speakOut(text === '' ? then : ` ${then}`, answer, clock, signal);
      yield { type: 'done' };
    },
    heard: () => {},
    reset: () => {},
  };
}

async function* speakOut(text: string, { firstTokenMs = 0, durationMs = firstTokenMs }: ScenarioAnswer, clock: Clock, signal: AbortSignal) {
  const words = text.match(/\s*\S+/g) ?? [];
  const began = clock.now();
  for (const [i, delta] of words.entries()) {
    const share = words.length === 1 ? 0 : i / (words.length - 1);
    await sleep(clock, began + firstTokenMs + share * (durationMs - firstTokenMs) - clock.now(), signal);
    yield { type: 'text' as const, delta };
  }
  await sleep(clock, began + Math.max(firstTokenMs, durationMs) - clock.now(), signal);
}

/** Also when the words follow others that were merged into the turn. */
function matches(when: string, asked: string): boolean {
  if (when.trim() === '*') return true;
  const [wanted, words] = [wordsOf(when).join(' '), wordsOf(asked).join(' ')];
  return words === wanted || (wanted !== '' && words.endsWith(` ${wanted}`));
}

/** A voice that takes as long for a clause as its share of the answer's sound, or its characters, say. */
export function scenarioTts({ tts = {}, llm = [] }: Scenario, clock: Clock): TextToSpeech {
  const { firstByteMs = 0, msPerChar = 50, failOn } = tts;
  const answers = llm.map(answer => ({ ...answer, all: `${answer.text ?? ''}${answer.then ?? ''}` }));
  return {
    name: 'scenario',
    sampleRate: RATE,
    async *synthesize(text, { signal } = {}) {
      await sleep(clock, firstByteMs, signal);
      if (failOn !== undefined && text.includes(failOn)) throw new Error(`cannot say ${JSON.stringify(text)}`);
      const answer = answers.find(({ all, audioMs }) => audioMs !== undefined && squeezed(all).includes(squeezed(text)));
      const ms =
        answer?.audioMs === undefined ? text.length * msPerChar : (answer.audioMs * squeezed(text).length) / squeezed(answer.all).length;
      yield { samples: new Float32Array(Math.round((ms * RATE) / 1000)).fill(0.1) };
    },
    close: async () => {},
  };
}

function squeezed(text: string): string {
  return text.replace(/\s+/gu, '');
}
