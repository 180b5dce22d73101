// An OpenAI-compatible server on loopback, in a process of its own: /CHUNKS/v1 streams so many chunks of five characters, 16 to a write.
import { createServer } from 'node:http';

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
const block = chunk({ content: 'abcd ' }).repeat(PER_WRITE);
const END = `${chunk({}, 'stop', { usage: { prompt_tokens: 7, completion_tokens: 9, total_tokens: 16 } })}data: [DONE]\n\n`;

const server = createServer((request, response) => {
  request.resume();
  const count = Number(request.url?.split('/')[1]) || 1000;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk({ role: 'assistant', content: '' }));
  let sent = 0;
  const go = () => {
    while (sent < count) {
      sent += PER_WRITE;
      if (!response.write(block)) return response.once('drain', go);
    }
    response.end(END);
  };
  go();
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.on('disconnect', () => process.exit());
