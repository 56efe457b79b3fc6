// What the page's address asks for: ?text=…&to=… from links and from the system's share menu. After a # nothing of it reaches a server.

/** A text to begin with, and languages. */
export interface Request {
  readonly text: string | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** Reads the address, and takes the text out of it: it need not stay in the browser's list of visited pages. */
export function takeRequest(): Request {
  const query = new URLSearchParams(location.search);
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) query.set(key, value);
  const shared = ['title', 'text', 'url'].map((key) => query.get(key)).filter(Boolean);
  if (query.size > 0) window.history.replaceState(null, '', location.pathname);
  return {
    text: shared.length > 0 ? shared.join('\n') : undefined,
    from: query.get('from') ?? undefined,
    to: query.get('to') ?? undefined,
  };
}
