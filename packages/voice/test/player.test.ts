import { memorySink, type VirtualClock, virtualClock } from '@antiphon/voice/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Player } from '../src/playout/player.js';

const RATE = 16_000;
const ms = (count: number) => (count * RATE) / 1000;
const loudspeaker = (clock: VirtualClock) => memorySink({ clock, sampleRate: RATE });

interface StageOptions {
  readonly sink?: (clock: VirtualClock) => ReturnType<typeof memorySink>;
  readonly hold?: Float32Array;
  readonly onNews?: (player: Player, news: string) => void;
}

function stage({ sink: make = loudspeaker, hold, onNews }: StageOptions = {}) {
  const clock = virtualClock();
  const sink = make(clock);
  const news: string[] = [];
  const tell = (what: string) => {
    news.push(what);
    onNews?.(player, what);
  };
  const listener = { started: (g: number) => tell(`started ${g}`), drained: (g: number) => tell(`drained ${g}`) };
  const player: Player = new Player(sink, clock, listener, hold);
  let next = 1;
  /** Queues samples that are all different, of a clause of their own; returns them. */
  const queue = (generation: number, count: number) => {
    const samples = Float32Array.from({ length: count }, () => next++ / 2 ** 23);
    player.queue(generation, player.ledger.open(generation, 'word'), samples);
    return [...samples];
  };
  const queueTone = (generation: number, count: number) =>
    player.queue(generation, player.ledger.open(generation, 'tone'), new Float32Array(count).fill(1));
  return { clock, sink, player, news, queue, queueTone };
}

/** The largest step between neighbours. */
function largestStep(audio: ArrayLike<number>): number {
  let largest = 0;
  for (let i = 1; i < audio.length; i++) largest = Math.max(largest, Math.abs((audio[i] ?? 0) - (audio[i - 1] ?? 0)));
  return largest;
}

const anOperation = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('queue' as const), generation: fc.integer({ min: 1, max: 3 }), count: fc.nat(3000) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.oneof(fc.nat(30), fc.nat(400)) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('hold' as const, 'release' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('startHoldSound' as const, 'stopHoldSound' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('flush' as const), generation: fc.integer({ min: 1, max: 3 }) }) },
);

describe('what comes out', () => {
  test('is byte for byte what went in, however often it is paused', async () => {
    const pauses = fc.array(fc.record({ playMs: fc.nat(120), pauseMs: fc.nat(50) }), { maxLength: 12 });
    const blocks = fc.array(fc.nat(4000), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(blocks, pauses, async (sizes, steps) => {
        const { clock, sink, player, queue } = stage();
        const given = sizes.flatMap(size => queue(1, size));
        for (const { playMs, pauseMs } of steps) {
          await clock.advance(playMs);
          player.hold();
          const stood = sink.played;
          await clock.advance(pauseMs);
          expect(sink.played).toBe(stood);
          player.release();
        }
        await clock.runAll();
        expect([...sink.audio]).toEqual(given);
      }),
      { numRuns: 60 },
    );
  });

  test('takes as long as its samples and its pauses', async () => {
    const { clock, player, queue, news } = stage();
    queue(1, ms(1000));
    await clock.advance(330);
    player.hold();
    await clock.advance(5000);
    player.release();
    await clock.advance(660);
    expect(news).toEqual(['started 1', 'started 1']);
    await clock.advance(20);
    expect(news.at(-1)).toBe('drained 1');
  });

  test('law: any operations in any order lose, repeat and reorder no sample, and the ledger adds up', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anOperation, { maxLength: 40 }), async operations => {
        const { clock, sink, player, queue, news } = stage({ hold: new Float32Array(777).fill(-0.5) });
        const owner = new Map<number, number>();
        const flushed = new Set<number>();
        for (const operation of operations) {
          switch (operation.do) {
            case 'queue':
              for (const sample of queue(operation.generation, operation.count)) owner.set(sample, operation.generation);
              break;
            case 'wait':
              await clock.advance(operation.ms);
              break;
            case 'flush': {
              player.flush(operation.generation);
              const heard = new Set(sink.audio);
              for (const [sample, generation] of owner) if (generation === operation.generation && !heard.has(sample)) flushed.add(sample);
              break;
            }
            default:
              player[operation.do]();
          }
          let waiting = 0;
          for (const generation of [1, 2, 3]) {
            const { queued, played, flushed } = player.ledger.count(generation);
            waiting += queued - played - flushed;
            // Whoever is counted was announced.
            expect(news.includes(`started ${generation}`)).toBe(played > 0);
          }
          expect(player.waiting).toBe(waiting);
        }
        player.stopHoldSound();
        player.release();
        await clock.runAll();
        const speech = [...sink.audio].filter(sample => sample > 0);
        expect(speech).toEqual([...owner.keys()].filter(sample => !flushed.has(sample)));
        for (const generation of [1, 2, 3]) {
          const own = [...owner].filter(([, of]) => of === generation).map(([sample]) => sample);
          const lost = own.filter(sample => flushed.has(sample)).length;
          expect(player.ledger.count(generation)).toEqual({ queued: own.length, played: own.length - lost, flushed: lost });
        }
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 150 },
    );
  });

  test('a flush drops one generation and keeps another that the sink already held', async () => {
    const { clock, sink, player, queue } = stage();
    const first = queue(1, ms(30));
    const second = queue(2, ms(30));
    const third = queue(1, ms(500));
    await clock.advance(10);
    player.flush(1);
    await clock.runAll();
    expect([...sink.audio]).toEqual([...first.slice(0, ms(10)), ...second]);
    expect(player.ledger.count(1)).toEqual({ queued: ms(530), played: ms(10), flushed: ms(520) });
    expect(third).toHaveLength(ms(500));
  });

  test('a sink that plays on until its flush repeats nothing', async () => {
    // Real time does not stand still between two calls.
    const restless = (clock: VirtualClock) => {
      const sink = memorySink({ clock, sampleRate: RATE });
      let lateMs = 0;
      const late = memorySink({ clock: { ...clock, now: () => clock.now() + lateMs }, sampleRate: RATE });
      return {
        ...sink,
        write: (samples: Float32Array) => late.write(samples),
        get played() {
          lateMs += 0.5;
          return late.played;
        },
        get audio() {
          return late.audio;
        },
        flush() {
          lateMs += 0.5;
          return late.flush();
        },
      };
    };
    const { clock, sink, player, queue } = stage({ sink: restless });
    const given = queue(1, ms(600));
    for (let i = 0; i < 20; i++) {
      await clock.advance(17);
      player.hold();
      player.release();
    }
    await clock.runAll();
    expect([...sink.audio]).toEqual(given);
    expect(player.ledger.count(1)).toEqual({ queued: ms(600), played: ms(600), flushed: 0 });
  });

  test('after its end nothing is played and no timer runs', async () => {
    const { clock, sink, player, queue } = stage({ hold: new Float32Array(100).fill(0.5) });
    queue(1, ms(500));
    player.startHoldSound();
    await clock.advance(100);
    player.end();
    player.flush(1);
    player.stopHoldSound();
    queue(2, ms(500));
    await clock.advance(1000);
    expect(sink.played).toBe(ms(100));
    expect(clock.pending).toBe(0);
  });
});

describe('what is told', () => {
  test('a start when the first sample was played, an end once for each emptying', async () => {
    const { clock, player, queue, news } = stage();
    queue(1, ms(100));
    expect(news).toEqual([]);
    await clock.advance(50);
    expect(news).toEqual(['started 1']);
    queue(1, ms(100));
    await clock.advance(149);
    expect(news).toEqual(['started 1']);
    await clock.advance(21);
    expect(news).toEqual(['started 1', 'drained 1']);
    expect(player.waiting).toBe(0);
    await clock.advance(5000);
    queue(1, 1);
    await clock.advance(40);
    expect(news).toEqual(['started 1', 'drained 1', 'started 1', 'drained 1']);
  });

  test('nothing of audio that was flushed before it was heard', async () => {
    const { clock, player, queue, news } = stage();
    queue(1, ms(100));
    player.flush(1);
    await clock.runAll();
    expect(news).toEqual([]);
  });

  test('a start again for what follows a flush', async () => {
    const { clock, player, queue, news } = stage();
    queue(1, ms(100));
    await clock.advance(30);
    player.flush(1);
    queue(1, ms(10));
    await clock.runAll();
    expect(news).toEqual(['started 1', 'started 1', 'drained 1']);
  });

  test('law: for each generation ends follow starts, one each without a pause', async () => {
    const blocks = fc.array(fc.tuple(fc.integer({ min: 1, max: 2 }), fc.nat(2000), fc.nat(150)), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(blocks, async list => {
        const { clock, queue, news } = stage();
        for (const [generation, count, wait] of list) {
          queue(generation, count);
          await clock.advance(wait);
        }
        await clock.runAll();
        for (const generation of [1, 2]) {
          const own = news.filter(what => what.endsWith(String(generation))).map(what => what[0]);
          // Another generation in between starts it anew.
          expect(own.join('')).toMatch(/^(?:s+d)*$/);
          if (list.every(([of]) => of === generation)) expect(own.join('')).toMatch(/^(?:sd)*$/);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('a listener may call back: pause, flush, go on', async () => {
    const { clock, sink, player, queue, news } = stage({
      onNews: (playing, what) => {
        if (what === 'drained 1') playing.hold();
        if (what === 'started 2') playing.flush(2);
        if (what === 'started 3') {
          playing.hold();
          playing.release();
        }
      },
    });
    const one = queue(1, ms(13));
    const two = queue(2, ms(200));
    const three = queue(3, ms(200));
    await clock.runAll();
    expect(news).toEqual(['started 1', 'drained 1', 'started 2']);
    player.release();
    await clock.runAll();
    const { played } = player.ledger.count(2);
    expect(played).toBeGreaterThan(0);
    expect([...sink.audio]).toEqual([...one, ...two.slice(0, played), ...three]);
    expect(news.at(-1)).toBe('drained 3');
  });

  test('a sink that claims more than it got is a fault', () => {
    const { player, queue } = stage({ sink: clock => ({ ...loudspeaker(clock), played: 0, write() {} }) });
    queue(1, 10);
    const liar = { ...loudspeaker(virtualClock()), played: 0 };
    const other = new Player(liar, virtualClock(), { started() {}, drained() {} });
    liar.played = 5;
    expect(() => other.release()).toThrow(RangeError);
    expect(player.waiting).toBe(10);
  });
});

describe('the sink', () => {
  test.each([8000, 16_000, 22_050, 24_000, 44_100, 48_000])('holds at most 80 ms at %i Hz, even when it never plays', async sampleRate => {
    let held = 0;
    const stuck = {
      name: 'stuck',
      sampleRate,
      played: 0,
      write: (samples: Float32Array) => {
        held += samples.length;
      },
      flush: () => {
        const dropped = held;
        held = 0;
        return dropped;
      },
      close: async () => {},
    };
    const clock = virtualClock();
    const player = new Player(stuck, clock, { started() {}, drained() {} }, new Float32Array(50).fill(1));
    player.startHoldSound();
    for (let i = 0; i < 40; i++) {
      player.queue(1, player.ledger.open(1, 'a'), new Float32Array(1 + i * 37));
      if (i % 7 === 3) {
        player.hold();
        player.release();
      }
      await clock.advance(33);
      expect(held).toBeLessThanOrEqual(0.08 * sampleRate);
    }
    expect(held).toBeGreaterThan(0.08 * sampleRate - 2);
  });

  test('that plays at once gets everything at once, and the hold sound in time', async () => {
    const sink = memorySink({ sampleRate: RATE });
    const clock = virtualClock();
    const news: string[] = [];
    const listener = { started: (g: number) => news.push(`started ${g}`), drained: (g: number) => news.push(`drained ${g}`) };
    const player = new Player(sink, clock, listener, new Float32Array(10).fill(1));
    player.queue(1, player.ledger.open(1, 'a'), new Float32Array(ms(1000)).fill(0.5));
    expect(sink.played).toBe(ms(1000));
    expect(news).toEqual(['started 1', 'drained 1']);
    player.startHoldSound();
    await clock.advance(100);
    expect(sink.played).toBeLessThanOrEqual(ms(1000 + 6 * 80));
    player.stopHoldSound();
    await clock.runAll();
    expect(clock.pending).toBe(0);
  });
});

describe('timers', () => {
  test('run only while something plays', async () => {
    const { clock, player, queue } = stage({ hold: new Float32Array(100).fill(0.5) });
    expect(clock.pending).toBe(0);
    queue(1, ms(100));
    expect(clock.pending).toBe(1);
    player.hold();
    expect(clock.pending).toBe(0);
    queue(1, ms(100));
    player.startHoldSound();
    expect(clock.pending).toBe(0);
    player.release();
    expect(clock.pending).toBe(1);
    await clock.advance(1000);
    expect(clock.pending).toBe(1);
    player.stopHoldSound();
    await clock.advance(150 + 20);
    expect(clock.pending).toBe(0);
    player.flush(1);
    player.release();
    expect(clock.pending).toBe(0);
  });

  test('end when what was left is flushed', () => {
    const { clock, player, queue } = stage();
    queue(1, ms(100));
    player.flush(1);
    expect(clock.pending).toBe(0);
  });
});

describe('the gain', () => {
  const rampStep = 0.75 / ms(30);

  test('is −12 dB when ducked, after a ramp of 30 ms each way', async () => {
    const { clock, sink, player, queueTone } = stage();
    queueTone(1, ms(1000));
    await clock.advance(200);
    player.gain = 'ducked';
    await clock.advance(300);
    player.gain = 'full';
    await clock.runAll();
    const { audio } = sink;
    expect(20 * Math.log10(Math.min(...audio))).toBeCloseTo(-12, 1);
    expect(largestStep(audio)).toBeLessThan(rampStep * 1.001);
    const down = [...audio].findIndex(sample => sample < 1);
    const low = [...audio].indexOf(0.25);
    expect(low - down + 1).toBe(ms(30));
    // What the sink already had is 80 ms at most.
    expect(down).toBeGreaterThanOrEqual(ms(200));
    expect(down).toBeLessThanOrEqual(ms(300));
    expect(audio.at(-1)).toBe(1);
  });

  test('law: it never jumps, whatever is paused, ducked or flushed meanwhile', async () => {
    const step = fc.record({
      wait: fc.nat(120),
      do: fc.constantFrom('duck', 'unduck', 'hold', 'release', 'flush another'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async steps => {
        const { clock, sink, player, queueTone } = stage();
        queueTone(1, ms(1500));
        for (const { wait, do: what } of steps) {
          await clock.advance(wait);
          if (what === 'hold') player.hold();
          else if (what === 'release') player.release();
          else if (what === 'flush another') player.flush(2);
          else player.gain = what === 'duck' ? 'ducked' : 'full';
        }
        player.release();
        await clock.runAll();
        expect(sink.audio.length).toBe(ms(1500));
        expect(largestStep(sink.audio)).toBeLessThan(rampStep * 1.001);
      }),
      { numRuns: 80 },
    );
  });
});

describe('the hold sound', () => {
  const tone = new Float32Array(1000).fill(-0.5);
  const fadeStep = 0.5 / ms(150);

  test('fades in, goes on, fades out, and is no speech', async () => {
    const { clock, sink, player, news } = stage({ hold: tone });
    player.startHoldSound();
    expect(player.waiting).toBe(0);
    await clock.advance(1000);
    player.startHoldSound();
    player.stopHoldSound();
    player.stopHoldSound();
    await clock.runAll();
    const { audio } = sink;
    expect(audio.length).toBe(ms(1150));
    expect(largestStep([0, ...audio, 0])).toBeLessThan(fadeStep * 1.001);
    expect(audio.filter(sample => sample === -0.5).length).toBe(ms(850) + 1);
    expect(news).toEqual([]);
    expect(player.ledger.count(0)).toEqual({ queued: 0, played: 0, flushed: 0 });
  });

  test('lets speech begin after its fade, whole, and comes back behind it', async () => {
    const { clock, sink, player, queue, news } = stage({ hold: tone });
    player.startHoldSound();
    await clock.advance(500);
    player.stopHoldSound();
    const speech = queue(1, ms(400));
    await clock.advance(149);
    expect(news).toEqual([]);
    await clock.advance(21);
    expect(news).toEqual(['started 1']);
    player.startHoldSound();
    await clock.advance(1000);
    player.stopHoldSound();
    await clock.runAll();
    const all = [...sink.audio];
    const from = all.indexOf(speech[0] ?? 0);
    expect(from).toBe(ms(650));
    expect(all.slice(from, from + ms(400))).toEqual(speech);
    expect(all.filter(sample => sample > 0)).toEqual(speech);
    expect(news).toEqual(['started 1', 'drained 1']);
  });

  test('law: it never jumps, except where the output is paused', async () => {
    const step = fc.record({ wait: fc.nat(250), do: fc.constantFrom('start', 'stop', 'speech', 'flush') });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async steps => {
        const { clock, sink, player, queue } = stage({ hold: tone });
        const given: number[] = [];
        for (const { wait, do: what } of steps) {
          await clock.advance(wait);
          if (what === 'start') player.startHoldSound();
          else if (what === 'stop') player.stopHoldSound();
          else if (what === 'flush') player.flush(2);
          else given.push(...queue(1, 1500));
        }
        player.stopHoldSound();
        await clock.runAll();
        const audio = [...sink.audio];
        expect(audio.filter(sample => sample > 0)).toEqual(given);
        const hold = audio.map(sample => Math.min(0, sample));
        expect(largestStep([0, ...hold, 0])).toBeLessThan(fadeStep * 1.001);
      }),
      { numRuns: 80 },
    );
  });

  test('comes back from silence after a pause', async () => {
    const { clock, sink, player } = stage({ hold: tone });
    player.startHoldSound();
    await clock.advance(500);
    player.hold();
    await clock.advance(500);
    player.release();
    await clock.advance(500);
    player.end();
    expect(sink.audio.length).toBe(ms(1000));
    expect(largestStep([0, ...sink.audio.slice(ms(500))])).toBeLessThan(fadeStep * 1.001);
  });

  test('without a sound there is none', async () => {
    for (const hold of [undefined, new Float32Array(0)]) {
      const { clock, sink, player } = stage(hold ? { hold } : {});
      player.startHoldSound();
      expect(clock.pending).toBe(0);
      player.stopHoldSound();
      await clock.runAll();
      expect(sink.played).toBe(0);
    }
  });
});
