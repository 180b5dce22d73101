// What our own code costs in a spoken turn: from what one stage gives to what the next one is asked. The stages answer at once, on the real clock.

import { systemClock } from '@antiphon/engine';
import { createVoiceSession } from '@antiphon/voice';
import { memorySink, scriptedVad } from '@antiphon/voice/testing';
import { printTable } from './clients/table.mjs';

const TURNS = 200;
const RATE = 16_000;
const spans = {
  'final words → request sent': [],
  'token that ends a clause → synthesis asked': [],
  'first bytes → loudspeaker': [],
  'interruption → model and synthesis told': [],
};
const marks = {};
const mark = name => {
  marks[name] = performance.now();
};
const span = (name, from) => {
  if (marks[from] !== undefined) spans[name].push(performance.now() - marks[from]);
  delete marks[from];
};

const pause = ms => new Promise(resolve => setTimeout(resolve, ms));
const sink = memorySink({ clock: systemClock });
const write = sink.write.bind(sink);
sink.write = samples => {
  span('first bytes → loudspeaker', 'bytes');
  write(samples);
};
const llm = {
  name: 'bench',
  async *reply(_, { signal }) {
    span('final words → request sent', 'words');
    const onAbort = () => span('interruption → model and synthesis told', 'interruption');
    signal.addEventListener('abort', onAbort, { once: true });
    for (const delta of ['This', ' is', ' a', ' first']) yield { type: 'text', delta };
    yield { type: 'text', delta: ' sentence.' };
    mark('clause');
    yield { type: 'text', delta: ' And here is a second one that goes on.' };
    await pause(15);
    yield { type: 'done' };
  },
  heard: () => {},
  reset: () => {},
};
const tts = {
  name: 'bench',
  sampleRate: RATE,
  async *synthesize() {
    span('token that ends a clause → synthesis asked', 'clause');
    mark('bytes');
    yield { samples: new Float32Array(RATE / 20).fill(0.1) };
  },
  close: async () => {},
};
const stt = { name: 'bench', sampleRate: RATE, transcribe: async function* () {}, close: async () => {} };
const source = {
  name: 'bench',
  sampleRate: RATE,
  async *frames(signal) {
    await new Promise(resolve => signal.addEventListener('abort', resolve));
  },
};
const session = createVoiceSession({ llm, vad: scriptedVad(), stt, tts, source, sink });
session.start();
for (let turn = 0; turn < TURNS; turn++) {
  mark('words');
  session.sendText(`Question ${turn}`);
  await pause(10);
  mark('interruption');
  session.interrupt();
  await pause(1);
}
await session.close();
// The first ones run cold.
for (const times of Object.values(spans)) times.splice(0, 20);

const at = (times, share) => times.sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
printTable([
  ['our own code, ms', 'turns', 'p50', 'p99'],
  ...Object.entries(spans).map(([name, times]) => [name, times.length, at(times, 0.5).toFixed(2), at(times, 0.99).toFixed(2)]),
]);
