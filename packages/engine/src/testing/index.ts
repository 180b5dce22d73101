export * from './chat-conformance.js';
export type { ChatScenario, ChatUnderTest, MakeChatAdapter } from './chat-scenario.js';
export * from './classification-conformance.js';
export type { ConformanceCase } from './conformance.js';
export { serverFailure } from './conformance.js';
export * from './embedding-conformance.js';
export * from './image-conformance.js';
export * from './moderation-conformance.js';
export * from './record.js';
export type {
  FetchLike,
  HttpRecording,
  RecordedBytes,
  RecordedChunk,
  RecordedFailure,
  RecordedField,
  RecordedRequest,
  RecordedResponse,
} from './recording.js';
export * from './replay.js';
export type { AdapterUnderTest, MakeAdapter, RequestScenario } from './request-conformance.js';
export * from './rerank-conformance.js';
export * from './scripted.js';
export * from './scripted-classification.js';
export * from './scripted-embeddings.js';
export * from './scripted-images.js';
export * from './scripted-moderation.js';
export * from './scripted-rerank.js';
export * from './scripted-speech.js';
export * from './scripted-transcription.js';
export type { Scripted, Turn, Turns } from './scripted-turns.js';
export * from './speech-conformance.js';
export * from './store-conformance.js';
export type { StreamScenario } from './stream-conformance.js';
export * from './transcription-conformance.js';
export * from './virtual-clock.js';
