// Native code must not be cut off. When a thread ends while the ONNX runtime works in it, the runtime brings the whole process
// down (abort, core dump). So a worker counts itself in and out of native calls in shared memory, and whoever ends the thread
// first closes the gate and waits for the call inside, if there is one.

const CLOSED = 0;
const INSIDE = 1;

/** Shared between an engine and its worker. */
export type GateMemory = SharedArrayBuffer;

export function createGateMemory(): GateMemory {
  return new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
}

/** The worker's side: runs a native call, or refuses when the gate is closed. */
export async function passGate<T>(memory: GateMemory, work: () => Promise<T>): Promise<T> {
  const cells = new Int32Array(memory);
  Atomics.add(cells, INSIDE, 1);
  try {
    if (Atomics.load(cells, CLOSED) !== 0) throw new Error('The engine is closing.');
    return await work();
  } finally {
    Atomics.sub(cells, INSIDE, 1);
    Atomics.notify(cells, INSIDE);
  }
}

/** Lets nothing new in. */
export function closeGate(memory: GateMemory): void {
  Atomics.store(new Int32Array(memory), CLOSED, 1);
}

export function isInside(memory: GateMemory): boolean {
  return Atomics.load(new Int32Array(memory), INSIDE) > 0;
}

/** A native call takes well below a second; a machine that is worse off may take this long. */
const EXIT_MS = 5_000;
const open = new Set<GateMemory>();

/** At `process.exit()` there is no time for promises: this thread stands still until the worker is out of its native call. */
function closeAll(): void {
  for (const memory of open) closeGate(memory);
  const end = performance.now() + EXIT_MS;
  for (const memory of open) {
    const cells = new Int32Array(memory);
    for (let inside = Atomics.load(cells, INSIDE); inside > 0; inside = Atomics.load(cells, INSIDE)) {
      const left = end - performance.now();
      if (left <= 0) return;
      Atomics.wait(cells, INSIDE, inside, left);
    }
  }
}

/** Makes the end of the process wait for native calls behind this gate; the returned function takes it back. */
export function guardExit(memory: GateMemory): () => void {
  if (open.size === 0) process.on('exit', closeAll);
  open.add(memory);
  return () => {
    open.delete(memory);
    if (open.size === 0) process.off('exit', closeAll);
  };
}
