export * from './scripted.js';
export * from './virtual-clock.js';
