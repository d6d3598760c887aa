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

/** A WebSocket subprotocol must be an HTTP token (RFC 9110 section 5.6.2); other secrets go in the first message. */
export const fitsSubprotocol = (token: string): boolean => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(token)
