// Writes a tiny llama model with random weights as a GGUF file (format version 3), so that a native runtime can be tested for real. Its
// vocabulary is the 256 bytes and a few words; what it says is noise and must never be shown as the answer of a language model.
import { writeFile } from 'node:fs/promises';

const SIZE = { embedding: 64, layers: 2, heads: 4, feedForward: 192, context: 2048 } as const;
const WORDS = [
  '▁',
  ...'etaoinshrldcumwfgypbvk.,?:',
  '▁the',
  '▁and',
  '▁you',
  '▁is',
  '▁of',
  '▁hello',
  '▁yes',
  '▁no',
  'ing',
  'er',
  'th',
  'he',
];
const TEMPLATE = "{% for m in messages %}{{ m['role'] + ': ' + m['content'] + '\\n' }}{% endfor %}assistant:";
/** Kinds of token in a SentencePiece vocabulary. */
const NORMAL = 1;
const UNKNOWN = 2;
const CONTROL = 3;
const BYTE = 6;
const ALIGNMENT = 32;

interface Tensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** A file of about 600 KB at `path`; the same seed gives the same bytes. */
export async function writeTinyGguf(path: string, seed = 1): Promise<void> {
  const { tokens, scores, types } = vocabulary();
  const tensors = weights(tokens.length, seed);
  const out = new Bytes();
  out.raw('GGUF').u32(3).u64(tensors.length);
  const { embedding, layers, heads, feedForward, context } = SIZE;
  const fields: readonly ((bytes: Bytes) => Bytes)[] = [
    text('general.architecture', 'llama'),
    text('general.name', 'tiny random weights'),
    number('llama.block_count', layers),
    number('llama.context_length', context),
    number('llama.embedding_length', embedding),
    number('llama.feed_forward_length', feedForward),
    number('llama.attention.head_count', heads),
    number('llama.attention.head_count_kv', heads),
    number('llama.rope.dimension_count', embedding / heads),
    bytes => bytes.text('llama.attention.layer_norm_rms_epsilon').u32(6).f32(1e-5),
    number('llama.vocab_size', tokens.length),
    number('general.file_type', 0),
    text('tokenizer.ggml.model', 'llama'),
    list('tokenizer.ggml.tokens', 8, tokens, (bytes, token) => bytes.text(token)),
    list('tokenizer.ggml.scores', 6, scores, (bytes, score) => bytes.f32(score)),
    list('tokenizer.ggml.token_type', 5, types, (bytes, type) => bytes.u32(type)),
    number('tokenizer.ggml.bos_token_id', 1),
    number('tokenizer.ggml.eos_token_id', 2),
    number('tokenizer.ggml.unknown_token_id', 0),
    text('tokenizer.chat_template', TEMPLATE),
  ];
  out.u64(fields.length);
  for (const field of fields) field(out);
  let offset = 0;
  for (const { name, shape, data } of tensors) {
    out.text(name).u32(shape.length);
    for (const side of shape) out.u64(side);
    out.u32(0).u64(offset);
    offset += Math.ceil(data.byteLength / ALIGNMENT) * ALIGNMENT;
  }
  for (const { data } of tensors) out.align().raw(Buffer.from(data.buffer));
  await writeFile(path, out.align().whole());
}

function vocabulary() {
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
  return {
    tokens: ['<unk>', '<s>', '</s>', ...bytes, ...WORDS],
    scores: [0, 0, 0, ...bytes.map(() => 0), ...WORDS.map((_, i) => -i - 1)],
    types: [UNKNOWN, CONTROL, CONTROL, ...bytes.map(() => BYTE), ...WORDS.map(() => NORMAL)],
  };
}

function weights(tokens: number, seed: number): Tensor[] {
  const { embedding: e, feedForward: f, layers } = SIZE;
  const random = randomNumbers(seed);
  const tensor = (name: string, shape: readonly number[], spread: number): Tensor => ({
    name,
    shape,
    data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => random() * spread),
  });
  const ones = (name: string): Tensor => ({ name, shape: [e], data: new Float32Array(e).fill(1) });
  const layer = (i: number): Tensor[] => {
    const square = (name: string) => tensor(`blk.${i}.${name}.weight`, [e, e], 0.2);
    return [
      ones(`blk.${i}.attn_norm.weight`),
      ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map(square),
      ones(`blk.${i}.ffn_norm.weight`),
      tensor(`blk.${i}.ffn_gate.weight`, [e, f], 0.2),
      tensor(`blk.${i}.ffn_up.weight`, [e, f], 0.2),
      tensor(`blk.${i}.ffn_down.weight`, [f, e], 0.2),
    ];
  };
  return [
    tensor('token_embd.weight', [e, tokens], 0.5),
    ...Array.from({ length: layers }, (_, i) => layer(i)).flat(),
    ones('output_norm.weight'),
    tensor('output.weight', [e, tokens], 0.5),
  ];
}

/** Roughly normal, from -2 to 2: the sum of four even numbers of xorshift. */
function randomNumbers(seed: number): () => number {
  let state = seed | 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  return () => next() + next() + next() + next() - 2;
}

const text = (key: string, value: string) => (bytes: Bytes) => bytes.text(key).u32(8).text(value);
const number = (key: string, value: number) => (bytes: Bytes) => bytes.text(key).u32(4).u32(value);
const list =
  <T>(key: string, type: number, values: readonly T[], write: (bytes: Bytes, value: T) => Bytes) =>
  (bytes: Bytes) => {
    bytes.text(key).u32(9).u32(type).u64(values.length);
    for (const value of values) write(bytes, value);
    return bytes;
  };

/** Little-endian values, one after the other. */
class Bytes {
  readonly #pieces: Buffer[] = [];
  #length = 0;

  raw(value: string | Buffer): this {
    const piece = Buffer.from(value as string);
    this.#pieces.push(piece);
    this.#length += piece.length;
    return this;
  }
  u32(value: number): this {
    const piece = Buffer.alloc(4);
    piece.writeUInt32LE(value);
    return this.raw(piece);
  }
  u64(value: number): this {
    const piece = Buffer.alloc(8);
    piece.writeBigUInt64LE(BigInt(value));
    return this.raw(piece);
  }
  f32(value: number): this {
    const piece = Buffer.alloc(4);
    piece.writeFloatLE(value);
    return this.raw(piece);
  }
  /** UTF-8 with its length before it. */
  text(value: string): this {
    const piece = Buffer.from(value);
    return this.u64(piece.length).raw(piece);
  }
  align(): this {
    return this.raw(Buffer.alloc((ALIGNMENT - (this.#length % ALIGNMENT)) % ALIGNMENT));
  }
  whole(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}
