/**
 * What happens to an answer that breaks off after something was shown, by a failure that may pass (a lost connection, an overload, an answer
 * without an end):
 *
 * - `surface` (the default): the run fails with what arrived. Reasoning counts as shown.
 * - `restart`: while only reasoning was shown, the request is sent again; the `retry` event takes the reasoning back.
 * - `continue`: as `restart`, and an answer of text is asked for again with that text as its beginning, if the adapter says `continuation`.
 *   The events go on in the same message. With calls, sources or files in it the answer surfaces, with a warning.
 *
 * All tries of a call count together against `retry.maxRetries`.
 */
export type OnStreamError = 'surface' | 'restart' | 'continue';
