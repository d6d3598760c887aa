// Where an HTTP client that carries credentials may be led.

export const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Credentials go to the host that they were meant for, and never from https to http. */
export function mayFollow(from: URL, to: URL): boolean {
  return to.origin === from.origin || (to.hostname === from.hostname && from.protocol === 'http:' && to.protocol === 'https:')
}
