export * from './interfaces/source.js';
export * from './interfaces/stt.js';
export * from './interfaces/tts.js';
export * from './interfaces/vad.js';
