/** Who follows a signal, behind its one listener. */
const FOLLOWERS = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Makes `controller` abort with `parent` until the returned function lets go of it. AbortSignal.any would do, but on Node 20 it holds on to
 * long-lived parents; this leaves no listener behind. All followers of a signal share one listener, since Node warns of a leak from the
 * eleventh on, and a batch of tools or a server's shutdown signal has more.
 */
export function follow(controller: AbortController, parent: AbortSignal | undefined): () => void {
  if (!parent) return () => {};
  const onAbort = () => controller.abort(parent.reason);
  if (parent.aborted) {
    onAbort();
    return () => {};
  }
  const followers = FOLLOWERS.get(parent) ?? new Set();
  if (followers.size === 0) {
    FOLLOWERS.set(parent, followers);
    parent.addEventListener('abort', abortAll, { once: true });
  }
  followers.add(onAbort);
  return () => {
    if (!followers.delete(onAbort) || followers.size > 0) return;
    FOLLOWERS.delete(parent);
    parent.removeEventListener('abort', abortAll);
  };
}

function abortAll(this: AbortSignal): void {
  const followers = [...(FOLLOWERS.get(this) ?? [])];
  FOLLOWERS.delete(this);
  for (const onAbort of followers) onAbort();
}
