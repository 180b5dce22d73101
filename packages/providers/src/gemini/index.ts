export { type GeminiChatOptions, gemini } from './adapter.js';
export { geminiEmbeddings } from './embeddings.js';
export type { GeminiOptions } from './endpoint.js';
export { geminiImages } from './images.js';
export { geminiTranscription } from './transcription.js';
