export { type VirtualClock, virtualClock } from '@antiphon/engine/testing';
export * from './memory-sink.js';
export * from './scripted.js';
