// A long answer that the server pauses (`CONTINUATION`): the same request, sent again with the token that came with the pause, has the rest.
import { filled } from '../http/wire-values.js';

/** The request for the next piece. */
export function continued(body: string, continuationToken: string): string {
  return JSON.stringify({ ...JSON.parse(body), continuationToken });
}

/** The token for the next piece; undefined when the answer is over, or does not go on: `before` is the one that this piece was asked for with. */
export function continuationOf(finish: unknown, token: unknown, before: string | undefined): string | undefined {
  return finish === 'CONTINUATION' && filled(token) && token !== before ? token : undefined;
}
