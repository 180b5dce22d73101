// Writes what the Interactions API would write.

const ABOUT = { id: 'v1_a', object: 'interaction', model: 'gemini-x' };
const USAGE = {
  total_tokens: 20,
  total_input_tokens: 7,
  total_cached_tokens: 2,
  total_output_tokens: 4,
  total_tool_use_tokens: 3,
  total_thought_tokens: 6,
};

export const created = (more: object = {}) => ({
  event_type: 'interaction.created',
  interaction: { ...ABOUT, status: 'in_progress', ...more },
});
export const status = (word: string) => ({ event_type: 'interaction.status_update', interaction_id: ABOUT.id, status: word });
export const completed = (word = 'completed', more: object = {}) => ({
  event_type: 'interaction.completed',
  interaction: { ...ABOUT, status: word, usage: USAGE, ...more },
});
export const start = (index: number, step: object) => ({ event_type: 'step.start', index, step });
export const delta = (index: number, piece: object) => ({ event_type: 'step.delta', index, delta: piece });
export const stop = (index: number) => ({ event_type: 'step.stop', index });

export const thought = (index: number, signature: string, ...summary: string[]) => [
  start(index, { type: 'thought' }),
  ...summary.map(text => delta(index, { type: 'thought_summary', content: { type: 'text', text } })),
  delta(index, { type: 'thought_signature', signature }),
  stop(index),
];
export const output = (index: number, ...texts: string[]) => [
  start(index, { type: 'model_output' }),
  ...texts.map(text => delta(index, { type: 'text', text })),
  stop(index),
];
export const call = (index: number, id: string, name: string, ...pieces: string[]) => [
  start(index, { type: 'function_call', id, name, arguments: {}, signature: '' }),
  ...pieces.map(args => delta(index, { type: 'arguments_delta', arguments: args })),
  stop(index),
];

/** Events as the API streams them. */
export function wire(events: readonly object[], end = '\n'): string {
  const named = events.map(
    event => `event: ${(event as { event_type?: string }).event_type}${end}data: ${JSON.stringify(event)}${end}${end}`,
  );
  return `${named.join('')}event: done${end}data: [DONE]${end}${end}`;
}
