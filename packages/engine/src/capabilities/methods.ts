// What stands behind the door: the code of every capability, in one piece.
export { classifyWith } from './classification.js';
export { embedWith } from './embeddings.js';
export { editImageWith, generateImageWith } from './images.js';
export { moderateWith } from './moderation.js';
export { rerankWith } from './rerank.js';
export { speakWith } from './speak.js';
export { runSpeech, runSpeechFromText } from './speech-stream.js';
export { transcribeWith } from './transcribe.js';
export { runTranscription } from './transcription-stream.js';
