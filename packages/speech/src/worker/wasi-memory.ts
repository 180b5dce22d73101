// The few WASI calls that a command-line program needs to turn its arguments into one file, all in memory. Node's own WASI
// crashes the whole process (Node 20: a segmentation fault after some calls between turns of the event loop), and would need
// a folder on disk.

/** WASI preview 1 error numbers. */
const OK = 0;
const BAD_DESCRIPTOR = 8;
const NO_ENTRY = 44;
const NOT_SEEKABLE = 70;

const FOLDER = 3;
const OUTPUT = 4;
const FOLDER_NAME = '/out';
const CHARACTER_DEVICE = 2;
const DIRECTORY = 3;
const REGULAR_FILE = 4;
const ALL_RIGHTS = 0xffff_ffff_ffff_ffffn;

export interface ProgramResult {
  /** 0: fine. */
  readonly exitCode: number;
  /** What the program wrote to the file, undefined when it opened none. */
  readonly file: Uint8Array | undefined;
  /** What it wrote to stdout and stderr. */
  readonly messages: string;
}

class Exit {
  constructor(readonly code: number) {}
}

/** Runs a fresh instance of the program to its end. The only file it can open, to write, is `/out/FILENAME`. */
export async function runProgram(module: WebAssembly.Module, args: readonly string[], filename: string): Promise<ProgramResult> {
  const output = createOutput();
  const said: Uint8Array[] = [];
  let opened = false;
  let memory: WebAssembly.Memory | undefined;
  const view = () => new DataView(memory!.buffer);
  const bytes = (at: number, length: number) => new Uint8Array(memory!.buffer, at, length);
  const argumentBytes = args.map(argument => new TextEncoder().encode(`${argument}\0`));
  const text = (at: number, length: number) => new TextDecoder().decode(bytes(at, length));

  const calls = {
    args_sizes_get(countAt: number, sizeAt: number) {
      view().setUint32(countAt, args.length, true);
      view().setUint32(
        sizeAt,
        argumentBytes.reduce((sum, argument) => sum + argument.length, 0),
        true,
      );
      return OK;
    },
    args_get(pointersAt: number, textAt: number) {
      for (const [index, argument] of argumentBytes.entries()) {
        view().setUint32(pointersAt + 4 * index, textAt, true);
        bytes(textAt, argument.length).set(argument);
        textAt += argument.length;
      }
      return OK;
    },
    clock_time_get(_clock: number, _precision: bigint, at: number) {
      view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return OK;
    },
    proc_exit(code: number) {
      throw new Exit(code);
    },
    fd_prestat_get(descriptor: number, at: number) {
      if (descriptor !== FOLDER) return BAD_DESCRIPTOR;
      view().setUint32(at, 0, true);
      view().setUint32(at + 4, FOLDER_NAME.length, true);
      return OK;
    },
    fd_prestat_dir_name(descriptor: number, at: number, length: number) {
      if (descriptor !== FOLDER) return BAD_DESCRIPTOR;
      bytes(at, length).set(new TextEncoder().encode(FOLDER_NAME).subarray(0, length));
      return OK;
    },
    path_open(
      folder: number,
      _lookup: number,
      nameAt: number,
      nameLength: number,
      _create: number,
      _rights: bigint,
      _inherited: bigint,
      _flags: number,
      descriptorAt: number,
    ) {
      if (folder !== FOLDER) return BAD_DESCRIPTOR;
      if (text(nameAt, nameLength) !== filename) return NO_ENTRY;
      opened = true;
      view().setUint32(descriptorAt, OUTPUT, true);
      return OK;
    },
    fd_fdstat_get(descriptor: number, at: number) {
      if (descriptor > OUTPUT) return BAD_DESCRIPTOR;
      view().setUint8(at, descriptor === FOLDER ? DIRECTORY : descriptor === OUTPUT ? REGULAR_FILE : CHARACTER_DEVICE);
      view().setUint16(at + 2, 0, true);
      view().setBigUint64(at + 8, ALL_RIGHTS, true);
      view().setBigUint64(at + 16, ALL_RIGHTS, true);
      return OK;
    },
    fd_fdstat_set_flags: () => OK,
    fd_close: () => OK,
    fd_read(_descriptor: number, _vectors: number, _count: number, readAt: number) {
      view().setUint32(readAt, 0, true);
      return OK;
    },
    fd_write(descriptor: number, vectors: number, count: number, writtenAt: number) {
      let written = 0;
      for (let index = 0; index < count; index++) {
        const at = view().getUint32(vectors + 8 * index, true);
        const piece = bytes(at, view().getUint32(vectors + 8 * index + 4, true));
        if (descriptor === OUTPUT) output.write(piece);
        else said.push(piece.slice());
        written += piece.length;
      }
      view().setUint32(writtenAt, written, true);
      return OK;
    },
    fd_seek(descriptor: number, offset: bigint, whence: number, positionAt: number) {
      if (descriptor !== OUTPUT) return NOT_SEEKABLE;
      view().setBigUint64(positionAt, BigInt(output.seek(Number(offset), whence)), true);
      return OK;
    },
  };

  const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: calls });
  const { memory: exported, _start: start } = instance.exports;
  if (!(exported instanceof WebAssembly.Memory) || typeof start !== 'function') throw new Error('this is not a WASI command');
  memory = exported;
  let exitCode = 0;
  try {
    start();
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    exitCode = error.code;
  }
  return { exitCode, file: opened ? output.contents() : undefined, messages: Buffer.concat(said).toString('utf8').trim() };
}

/** A file in memory. */
function createOutput() {
  let data = new Uint8Array(1 << 16);
  let length = 0;
  let position = 0;
  return {
    write(piece: Uint8Array) {
      const end = position + piece.length;
      if (end > data.length) {
        const larger = new Uint8Array(Math.max(end, data.length * 2));
        larger.set(data.subarray(0, length));
        data = larger;
      }
      data.set(piece, position);
      position = end;
      length = Math.max(length, end);
    },
    /** `whence`: 0 from the start, 1 from here, 2 from the end. Gives the new position. */
    seek(offset: number, whence: number): number {
      position = Math.max(0, offset + [0, position, length][whence]!);
      return position;
    },
    contents: () => data.slice(0, length),
  };
}
