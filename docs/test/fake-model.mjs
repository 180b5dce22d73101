// Loaded before a documentation snippet: the model server that the snippets speak to, without a socket.
const events = [
  { choices: [{ index: 0, delta: { role: 'assistant', content: 'It is 12 °C ' }, finish_reason: null }] },
  { choices: [{ index: 0, delta: { content: 'in Oslo.' }, finish_reason: null }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
];
const real = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const url = String(input instanceof Request ? input.url : input);
  if (!url.startsWith('http://127.0.0.1:11434/')) return real(input, init);
  const lines = events.map(
    event => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'llama3.2', ...event })}\n\n`,
  );
  return new Response(`${lines.join('')}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } });
};
