/**
 * Makes `controller` abort with `parent` until the returned function lets go of it. AbortSignal.any would do, but on Node 20 it holds on to
 * long-lived parents; this leaves no listener behind.
 */
export function follow(controller: AbortController, parent: AbortSignal | undefined): () => void {
  if (!parent) return () => {};
  const onAbort = () => controller.abort(parent.reason);
  if (parent.aborted) onAbort();
  else parent.addEventListener('abort', onAbort, { once: true });
  return () => parent.removeEventListener('abort', onAbort);
}
