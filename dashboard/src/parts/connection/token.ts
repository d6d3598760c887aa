// The access token: kept for this tab's session only, never in an address.
const KEY = 'warpwatch.token'

export function storedToken(): string | undefined {
  try {
    return sessionStorage.getItem(KEY) ?? undefined
  } catch {
    return undefined // storage switched off: the token then lives as long as the page
  }
}

export function storeToken(token: string | undefined): void {
  try {
    if (token === undefined) sessionStorage.removeItem(KEY)
    else sessionStorage.setItem(KEY, token)
  } catch {
    // as above
  }
}

/** The token as part of a WebSocket subprotocol, which must be an HTTP token (RFC 9110 section 5.6.2); the agent decodes it. */
export function tokenProtocol(token: string): string {
  const encoded = encodeURIComponent(token).replace(/[()]/g, (char) => `%${char.charCodeAt(0).toString(16)}`)
  return `warpwatch.token.${encoded}`
}
