// An OpenAI-compatible server on loopback, in a process of its own. /KIND/COUNT/v1 streams COUNT deltas, 16 to a write:
// `text` five characters each, `tool` and `output` growing JSON, `paced` one every 3 ms that says when it was sent.
import { createServer } from 'node:http';
import { growingDocument, micros } from './agreed.mjs';

const chunk = (delta, finish = null, extra = {}) =>
  `data: ${JSON.stringify({
    ...{
      id: 'chatcmpl-0123456789abcdef',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'bench',
      system_fingerprint: 'fp_44709d6fcb',
    },
    ...{ choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...extra },
  })}\n\n`;
const PER_WRITE = 16;
const PACE_MS = 3;
const WORD = chunk({ content: 'abcd ' });
const USAGE = { usage: { prompt_tokens: 7, completion_tokens: 9, total_tokens: 16 } };
const end = finish => `${chunk({}, finish, USAGE)}data: [DONE]\n\n`;

function* pieces(count) {
  const text = JSON.stringify(growingDocument(count));
  const cut = i => Math.round((i * text.length) / count);
  for (let i = 0; i < count; i++) yield text.slice(cut(i), cut(i + 1));
}

const KINDS = {
  *text(count) {
    for (let i = 0; i < count; i++) yield WORD;
    yield end('stop');
  },
  *output(count) {
    for (const piece of pieces(count)) yield chunk({ content: piece });
    yield end('stop');
  },
  *tool(count) {
    const call = { index: 0, id: 'call_0123456789', type: 'function', function: { name: 'save', arguments: '' } };
    yield chunk({ tool_calls: [call] });
    for (const piece of pieces(count)) yield chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] });
    yield end('tool_calls');
  },
};

function* blocks(events) {
  let [block, held] = ['', 0];
  for (const event of events) {
    block += event;
    if (++held < PER_WRITE) continue;
    yield block;
    [block, held] = ['', 0];
  }
  yield block;
}

function send(response, parts) {
  for (let next = parts.next(); !next.done; next = parts.next()) {
    if (!response.write(next.value)) return response.once('drain', () => send(response, parts));
  }
  response.end();
}

function pace(response, count) {
  let sent = 0;
  const timer = setInterval(() => {
    if (sent++ < count) return response.write(chunk({ content: `${micros()} ` }));
    clearInterval(timer);
    response.end(end('stop'));
  }, PACE_MS);
}

const server = createServer((request, response) => {
  request.resume();
  const [, kind, count] = request.url.split('/');
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk({ role: 'assistant', content: '' }));
  if (kind === 'paced') pace(response, Number(count));
  else send(response, blocks(KINDS[kind](Number(count))));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.on('disconnect', () => process.exit());
