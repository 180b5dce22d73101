/** Text on its way to a voice: cut into clauses, then made speakable. */
export { type Clause, ClauseSplitter, type ClauseSplitterOptions } from './clause-splitter.js';
export { type SpeakableOptions, speakable } from './speakable.js';
