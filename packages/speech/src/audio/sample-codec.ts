// How one number stands in a WAV file's bytes, for every encoding that we read or write. Full scale is −1 to 1.

export type Encoding = 'int8' | 'int16' | 'int24' | 'int32' | 'float32' | 'float64' | 'mulaw' | 'alaw';

export interface SampleCodec {
  readonly bytes: number;
  read(view: DataView, offset: number): number;
  /** Takes any number; integers clip at full scale, and what is not a number becomes 0. */
  write(view: DataView, offset: number, sample: number): void;
}

function integer(bits: number, sample: number): number {
  const scale = 2 ** (bits - 1);
  const value = Math.round(sample * scale);
  if (value >= scale) return scale - 1;
  return value < -scale ? -scale : value || 0;
}

export const sampleCodecs: Readonly<Record<Encoding, SampleCodec>> = {
  // 8-bit WAV is unsigned, all wider ones are signed.
  int8: {
    bytes: 1,
    read: (view, offset) => (view.getUint8(offset) - 128) / 128,
    write: (view, offset, sample) => view.setUint8(offset, integer(8, sample) + 128),
  },
  int16: {
    bytes: 2,
    read: (view, offset) => view.getInt16(offset, true) / 0x8000,
    write: (view, offset, sample) => view.setInt16(offset, integer(16, sample), true),
  },
  int24: {
    bytes: 3,
    read: (view, offset) => (view.getInt16(offset + 1, true) * 256 + view.getUint8(offset)) / 0x800000,
    write(view, offset, sample) {
      const value = integer(24, sample);
      view.setUint8(offset, value & 0xff);
      view.setInt16(offset + 1, value >> 8, true);
    },
  },
  int32: {
    bytes: 4,
    read: (view, offset) => view.getInt32(offset, true) / 0x80000000,
    write: (view, offset, sample) => view.setInt32(offset, integer(32, sample), true),
  },
  float32: {
    bytes: 4,
    read: (view, offset) => view.getFloat32(offset, true),
    write: (view, offset, sample) => view.setFloat32(offset, sample, true),
  },
  float64: {
    bytes: 8,
    read: (view, offset) => view.getFloat64(offset, true),
    write: (view, offset, sample) => view.setFloat64(offset, sample, true),
  },
  mulaw: { bytes: 1, read: (view, offset) => mulaw(view.getUint8(offset)), write: readOnly },
  alaw: { bytes: 1, read: (view, offset) => alaw(view.getUint8(offset)), write: readOnly },
};

function readOnly(): never {
  throw new TypeError('Telephone encodings are read, not written.');
}

/** ITU-T G.711 µ-law: sign, three bits of exponent, four of mantissa, all inverted, with a bias of 33 on the 14-bit scale. */
function mulaw(byte: number): number {
  const code = ~byte & 0xff;
  const magnitude = (((code & 0x0f) * 2 + 33) << ((code >> 4) & 7)) - 33;
  return (code & 0x80 ? -magnitude : magnitude) / 8192;
}

/** ITU-T G.711 A-law: like µ-law without the bias, every second bit inverted, on the 13-bit scale. */
function alaw(byte: number): number {
  const code = byte ^ 0x55;
  const exponent = (code >> 4) & 7;
  const mantissa = (code & 0x0f) * 2 + 1;
  const magnitude = exponent === 0 ? mantissa : (mantissa + 32) << (exponent - 1);
  return (code & 0x80 ? magnitude : -magnitude) / 4096;
}
