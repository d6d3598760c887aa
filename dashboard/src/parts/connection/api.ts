// Requests to the agent's API, relative to the page, with the access token when there is one.
const KEY = 'warpwatch.token'

/** The access token: kept for this tab's session only, never in an address. */
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

export type ApiFailure = { readonly status: number; readonly code: string; readonly message: string }

export class ApiError extends Error {
  readonly failure: ApiFailure
  constructor(path: string, failure: ApiFailure) {
    super(`${path}: the agent answered ${failure.status} (${failure.code}): ${failure.message}`)
    this.name = 'ApiError'
    this.failure = failure
  }
}

/** Answers are unknown until they are looked at. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value)

async function failureOf(response: Response): Promise<ApiFailure> {
  const fallback: ApiFailure = { status: response.status, code: 'http_error', message: response.statusText }
  try {
    const body: unknown = await response.json()
    const error: Readonly<Record<string, unknown>> = isObject(body) && isObject(body['error']) ? body['error'] : {}
    const { code, message } = error
    return {
      status: response.status,
      code: typeof code === 'string' ? code : fallback.code,
      message: typeof message === 'string' ? message : fallback.message,
    }
  } catch {
    return fallback // not JSON: a proxy's page, say
  }
}

async function get(path: string, token: string | undefined, accept: string, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(new URL(path, document.baseURI), {
    headers: { accept, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    credentials: 'same-origin',
    ...(signal !== undefined && { signal }),
  })
  if (!response.ok) throw new ApiError(path, await failureOf(response))
  return response
}

/** Says something to the agent; its answer, undefined where it has none. */
export async function send(method: 'POST' | 'DELETE', path: string, token: string | undefined, body?: object): Promise<unknown> {
  const response = await fetch(new URL(path, document.baseURI), {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    credentials: 'same-origin',
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new ApiError(path, await failureOf(response))
  return response.status === 204 ? undefined : response.json()
}

export const getJson = async (path: string, token: string | undefined, signal?: AbortSignal): Promise<unknown> =>
  (await get(path, token, 'application/json', signal)).json()
export const getText = async (path: string, token: string | undefined): Promise<string> => (await get(path, token, 'text/*')).text()
