// Errors as readers get them: {"error":{"code","message"}} with the right status.
export type ApiErrorCode =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'too_large'
  | 'unsupported_media_type'
  | 'invalid_configuration'
  | 'too_many_readers'
  | 'unreachable'
  | 'internal'
export const STATUS = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_large: 413,
  unsupported_media_type: 415,
  invalid_configuration: 422,
  too_many_readers: 503,
  unreachable: 502,
  internal: 500,
} as const satisfies Record<ApiErrorCode, number>

export type Refusal = { readonly code: ApiErrorCode; readonly message: string; readonly headers?: Readonly<Record<string, string>> }

/** On every answer: no browser may take what is sent for something else than its Content-Type says. */
export const NO_SNIFF = { 'X-Content-Type-Options': 'nosniff' } as const

export const errorBody = ({ code, message }: Refusal): string => `${JSON.stringify({ error: { code, message } })}\n`
