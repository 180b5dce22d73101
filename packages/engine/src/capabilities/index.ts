// What the package shows of this folder.
export type {
  CapabilityMethod,
  CapabilityOptions,
  CapabilityOutcome,
  CapabilityReport,
  CapabilityResponse,
  CapabilityUsage,
} from './call.js';
export { completed, sumUsage } from './call.js';
export type {
  ClassificationAdapter,
  ClassificationRequest,
  ClassificationResponse,
  Classify,
  ClassifyOptions,
  ClassifyOutcome,
} from './classification.js';
export type { Embed, EmbeddingAdapter, EmbeddingRequest, EmbeddingResponse, EmbedOptions, EmbedOutcome, Vector } from './embeddings.js';
export type {
  EditImage,
  EditImageOptions,
  GeneratedImage,
  GenerateImage,
  GenerateImageOptions,
  ImageAdapter,
  ImageEditRequest,
  ImageOutcome,
  ImageRequest,
  ImageResponse,
} from './images.js';
export type {
  Moderate,
  ModerateOptions,
  ModerateOutcome,
  ModerationAdapter,
  ModerationItem,
  ModerationRequest,
  ModerationResponse,
  ModerationResult,
} from './moderation.js';
export type {
  AnswerOf,
  AnswersOf,
  ChoiceAnswer,
  ChoiceQuestion,
  Question,
  Questions,
  ScoreAnswer,
  ScoreQuestion,
  YesNoAnswer,
  YesNoQuestion,
} from './questions.js';
export { choiceQuestion, scoreQuestion, yesNoQuestion } from './questions.js';
export type { RankedDocument, Rerank, RerankAdapter, RerankOptions, RerankOutcome, RerankRequest, RerankResponse } from './rerank.js';
export type { CapabilityMethods, CapabilitySlots } from './slots.js';
export type {
  AudioDelta,
  Speak,
  SpeakOptions,
  Speech,
  SpeechAbout,
  SpeechAdapter,
  SpeechAdapterEvent,
  SpeechEnd,
  SpeechFormat,
  SpeechOutcome,
  SpeechRequest,
  SpeechResponse,
  SpeechSettings,
  SpeechStart,
  SpeechStream,
  SpeechStreamEvent,
  SpokenWord,
  StreamSpeech,
  StreamSpeechFromText,
  StreamSpeechOptions,
  TextInPieces,
  WordsEvent,
} from './speech.js';
export { SPEECH_FORMATS } from './speech.js';
export type { CapabilityEnd, StreamOptions } from './stream.js';
export { CapabilityStream } from './stream.js';
export type {
  CommittedTranscript,
  PartialTranscript,
  StreamTranscription,
  StreamTranscriptionOptions,
  StreamTranscriptionRequest,
  Transcribe,
  TranscribeOptions,
  Transcript,
  TranscriptionAdapter,
  TranscriptionAdapterEvent,
  TranscriptionEnd,
  TranscriptionOutcome,
  TranscriptionRequest,
  TranscriptionResponse,
  TranscriptionSettings,
  TranscriptionStart,
  TranscriptionStream,
  TranscriptionStreamEvent,
  TranscriptSpan,
} from './transcription.js';
export { normalize } from './vectors.js';
