// Why a check failed, from the error codes of Node, OpenSSL and the system.
import { codeOf } from '../../text/error.ts'

/** In the words of the metrics. */
export type FailureReason = 'dns' | 'refused' | 'unreachable' | 'reset' | 'timeout' | 'tls' | 'status' | 'redirect' | 'protocol' | 'other'
/** `own`: the agent itself could not ask, which says nothing of the service. */
export type ErrorMeaning = FailureReason | 'own'

const BY_CODE: Readonly<Record<string, ErrorMeaning>> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  EAI_NODATA: 'dns',
  EAI_NONAME: 'dns',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETDOWN: 'unreachable',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  ETIMEDOUT: 'timeout',
  // errno(3): out of descriptors, memory or local ports, or not allowed to connect.
  EMFILE: 'own',
  ENFILE: 'own',
  ENOMEM: 'own',
  ENOBUFS: 'own',
  EADDRNOTAVAIL: 'own',
  EACCES: 'own',
  EPERM: 'own',
  // Of the agent's configuration: no such proxy can be used.
  ERR_PROXY_CONFIG: 'own',
}
/** OpenSSL's verification errors and handshake alerts as Node names them (tls.md, "X509 certificate error codes"). */
const TLS = /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_|HOSTNAME_MISMATCH$|EPROTO$)/

export function meaningOf(error: unknown): ErrorMeaning {
  const code = codeOf(error) ?? ''
  if (Object.hasOwn(BY_CODE, code)) return BY_CODE[code] ?? 'other'
  if (code.startsWith('HPE_')) return 'protocol'
  return TLS.test(code) ? 'tls' : 'other'
}
