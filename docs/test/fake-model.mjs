// Loaded before a documentation snippet: the servers that the snippets speak to, without a socket. Each answers in its own protocol.
const ANSWER = ['It is 12 °C ', 'in Oslo.'];
const json = value => new Response(JSON.stringify(value), { headers: { 'content-type': 'application/json' } });
const sse = (events, named = false) => {
  const lines = events.map(event => {
    const data = typeof event === 'string' ? event : JSON.stringify(event);
    return `${named && typeof event !== 'string' ? `event: ${event.type}\n` : ''}data: ${data}\n\n`;
  });
  return new Response(lines.join(''), { headers: { 'content-type': 'text/event-stream' } });
};

function openaiChat() {
  const chunk = (delta, finish = null) => ({
    ...{ id: 'c', object: 'chat.completion.chunk', model: 'llama3.2' },
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  return sse([...ANSWER.map(content => chunk({ content })), chunk({}, 'stop'), '[DONE]']);
}

function openaiResponses() {
  const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [] };
  const done = { ...item, status: 'completed', content: [{ type: 'output_text', text: ANSWER.join(''), annotations: [] }] };
  const usage = { input_tokens: 7, output_tokens: 9, total_tokens: 16 };
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  return sse(
    [
      { type: 'response.created', response: { id: 'resp_1', model: 'gpt-5-mini', status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress' } },
      ...ANSWER.map(delta => ({ type: 'response.output_text.delta', ...place, delta })),
      { type: 'response.output_text.done', ...place, text: ANSWER.join('') },
      { type: 'response.output_item.done', output_index: 0, item: done },
      { type: 'response.completed', response: { id: 'resp_1', model: 'gpt-5-mini', status: 'completed', output: [done], usage } },
    ],
    true,
  );
}

function anthropic() {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [], stop_reason: null };
  return sse(
    [
      { type: 'message_start', message: { ...message, usage: { input_tokens: 7, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...ANSWER.map(text => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    ],
    true,
  );
}

function gemini() {
  const part = (text, more = {}) => ({ candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...more }] });
  return sse([
    part(ANSWER[0]),
    { ...part(ANSWER[1], { finishReason: 'STOP' }), usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 9 } },
  ]);
}

function interactions() {
  const interaction = { id: 'v1_1', object: 'interaction', model: 'gemini-3-flash-preview' };
  const usage = { total_input_tokens: 7, total_output_tokens: 9, total_tokens: 16 };
  return sse([
    { event_type: 'interaction.created', interaction: { ...interaction, status: 'in_progress' } },
    { event_type: 'step.start', index: 0, step: { type: 'model_output' } },
    ...ANSWER.map(text => ({ event_type: 'step.delta', index: 0, delta: { type: 'text', text } })),
    { event_type: 'step.stop', index: 0 },
    { event_type: 'interaction.completed', interaction: { ...interaction, status: 'completed', usage } },
  ]);
}

const embeddings = ({ input }) =>
  json({
    object: 'list',
    model: 'e',
    data: [input].flat().map((_, index) => ({ object: 'embedding', index, embedding: [0.6, 0.8] })),
    usage: { prompt_tokens: 4, total_tokens: 4 },
  });

const image = () =>
  json({ created: 0, data: [{ b64_json: 'iVBORw0KGgo=' }], usage: { input_tokens: 5, output_tokens: 9, total_tokens: 14 } });
const moderation = () =>
  json({
    id: 'mod',
    model: 'omni-moderation',
    results: [{ flagged: false, categories: { violence: false }, category_scores: { violence: 0.01 } }],
  });
const rerankScores = [
  { index: 1, relevance_score: 0.9 },
  { index: 0, relevance_score: 0.1 },
];
const rerank = () => json({ id: 'r', results: rerankScores, meta: {} });
const speech = () => new Response(new Uint8Array(4800), { headers: { 'content-type': 'audio/mpeg' } });
const transcription = () => json({ text: 'It is noon.' });

const geminiEmbeddings = ({ requests }) => json({ embeddings: requests.map(() => ({ values: [0.6, 0.8] })) });
const geminiParts = ({ systemInstruction }) => {
  const parts = systemInstruction ? [{ text: 'It is noon.' }] : [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }];
  return json({ candidates: [{ content: { role: 'model', parts }, index: 0, finishReason: 'STOP' }] });
};
const voyageRerank = () => json({ object: 'list', data: rerankScores, model: 'rerank-2.5', usage: { total_tokens: 9 } });
const zeroShot = ({ parameters }) => json(parameters.candidate_labels.map((label, i) => ({ label, score: i === 0 ? 0.9 : 0.1 })));

/** Where a request goes, and who answers. */
const SERVERS = [
  [/^http:\/\/127\.0\.0\.1:11434\/v1\/chat\/completions$/, openaiChat],
  [/^https:\/\/api\.openai\.com\/v1\/responses$/, openaiResponses],
  [/^https:\/\/api\.openai\.com\/v1\/embeddings$/, embeddings],
  [/^https:\/\/api\.openai\.com\/v1\/images\/generations$/, image],
  [/^https:\/\/api\.openai\.com\/v1\/moderations$/, moderation],
  [/^https:\/\/api\.openai\.com\/v1\/audio\/speech$/, speech],
  [/^https:\/\/api\.openai\.com\/v1\/audio\/transcriptions$/, transcription],
  [/^https:\/\/api\.cohere\.com\/v2\/rerank$/, rerank],
  [/^https:\/\/api\.anthropic\.com\/v1\/messages$/, anthropic],
  [/^https:\/\/generativelanguage\.googleapis\.com\/.*:streamGenerateContent/, gemini],
  [/^https:\/\/generativelanguage\.googleapis\.com\/v1beta\/interactions$/, interactions],
  [/^https:\/\/generativelanguage\.googleapis\.com\/.*:batchEmbedContents$/, geminiEmbeddings],
  [/^https:\/\/generativelanguage\.googleapis\.com\/.*:generateContent$/, geminiParts],
  [/^https:\/\/api\.voyageai\.com\/v1\/embeddings$/, embeddings],
  [/^https:\/\/api\.voyageai\.com\/v1\/rerank$/, voyageRerank],
  [/^https:\/\/api\.elevenlabs\.io\/v1\/text-to-speech\//, speech],
  [/^https:\/\/api\.elevenlabs\.io\/v1\/speech-to-text$/, transcription],
  [/^https:\/\/router\.huggingface\.co\/.*\/facebook\/bart-large-mnli$/, zeroShot],
];

const real = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const url = String(input instanceof Request ? input.url : input);
  const server = SERVERS.find(([address]) => address.test(url))?.[1];
  if (!server) return real(input, init);
  return server(typeof init?.body === 'string' ? JSON.parse(init.body) : {});
};
