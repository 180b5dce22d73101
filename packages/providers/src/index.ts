export { type AnthropicOptions, anthropic } from './anthropic/adapter.js';
export type { ProbabilityBasis } from './classification/basis.js';
export { type LogprobClassificationOptions, logprobClassification } from './classification/logprobs.js';
export { type ZeroShotClassificationOptions, zeroShotClassification } from './classification/zero-shot.js';
export { type CohereRerankOptions, cohereRerank } from './cohere/rerank.js';
export { elevenlabsSpeech } from './elevenlabs/speech.js';
export { elevenlabsTranscription } from './elevenlabs/transcription.js';
export type { ElevenlabsOptions } from './elevenlabs/vendor.js';
export { type GeminiChatOptions, gemini } from './gemini/adapter.js';
export { geminiEmbeddings } from './gemini/embeddings.js';
export type { GeminiOptions } from './gemini/endpoint.js';
export { geminiImages } from './gemini/images.js';
export { geminiTranscription } from './gemini/transcription.js';
export type { Fetch } from './http/exchange.js';
export type { ApiKey } from './http/keys.js';
export type { ServiceOptions } from './http/service.js';
export { type LlamaCppAdapter, llamaCpp } from './llama-cpp/adapter.js';
export type { GpuOption } from './llama-cpp/binding.js';
export type { LlamaCppOptions } from './llama-cpp/runtime.js';
export { type OpenaiChatOptions, openaiChat } from './openai-chat/adapter.js';
export type { Profile, ProfileOption } from './openai-chat/profiles.js';
export { type OpenaiEmbeddingsOptions, openaiEmbeddings } from './openai-embeddings/adapter.js';
export { type OpenaiImagesOptions, openaiImages } from './openai-images/adapter.js';
export {
  type OpenaiModerationAdapter,
  type OpenaiModerationOptions,
  type OpenaiModerationResponse,
  openaiModeration,
} from './openai-moderation/adapter.js';
export type { OpenaiModerationResult } from './openai-moderation/verdicts.js';
export { type OpenaiResponsesOptions, openaiResponses } from './openai-responses/adapter.js';
export { type OpenaiSpeechOptions, openaiSpeech } from './openai-speech/adapter.js';
export { type OpenaiTranscriptionOptions, openaiTranscription } from './openai-transcription/adapter.js';
export { createRegistry, type ModelOptions, model, pricesOf, type Registry, type RegistryOptions } from './registry/registry.js';
export type { ModelCapability, ModelFacts, ModelInfo, RegistryData } from './registry/types.js';
export { type VoyageEmbeddingsOptions, voyageEmbeddings } from './voyage/embeddings.js';
export { type VoyageRerankOptions, voyageRerank } from './voyage/rerank.js';
export type { WebSocketConstructor, WebSocketLike } from './websocket/runtime.js';
