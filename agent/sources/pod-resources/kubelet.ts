// Asks the kubelet which devices it gave to which container: one gRPC call on its Unix socket. By node's HTTP/2, since a gRPC library takes 20 MiB.
import type { IncomingHttpHeaders } from 'node:http2'
import { connect } from 'node:net'
import { messageOf } from '../../text/error.ts'
import { parseListResponse, type Assignment } from './list-response.ts'

const LIST = '/v1.PodResourcesLister/List'
/** The kubelet's own limit of a message (podresources server, MaxMsgSize). */
const MAX_BYTES = 16 * 2 ** 20
const PREFIX_BYTES = 5

export type Listed = { readonly assignments: readonly Assignment[] } | { readonly failed: string; readonly timedOut?: true }

/** A request without fields: not compressed, 0 bytes long. */
const EMPTY_REQUEST = Buffer.alloc(PREFIX_BYTES)

function assignmentsOf(body: Buffer): Listed {
  const isWhole = body.length >= PREFIX_BYTES && body.readUInt8(0) === 0 && body.length === PREFIX_BYTES + body.readUInt32BE(1)
  const assignments = isWhole ? parseListResponse(body.subarray(PREFIX_BYTES)) : undefined
  return assignments === undefined ? { failed: `the answer of ${body.length} bytes is not a ListPodResourcesResponse` } : { assignments }
}
/** gRPC sends the message percent-encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
const refusalOf = (headers: IncomingHttpHeaders): string | undefined => {
  const { 'grpc-status': status, 'grpc-message': message } = headers
  if (status === undefined || status === '0') return undefined
  return `gRPC status ${String(status)}${message === undefined ? '' : `: ${decoded(String(message).slice(0, 300))}`}`
}

/** Never rejects. A connection of its own for each call: it is made every ten seconds, and the kubelet may be another one by then. */
export async function listPodResources(socketPath: string, timeoutMs: number): Promise<Listed> {
  // Only where there is a kubelet: it loads Node's TLS too.
  const { connect: connectHttp2, constants } = await import('node:http2')
  const { promise, resolve } = Promise.withResolvers<Listed>()
  const session = connectHttp2('http://localhost', { createConnection: () => connect(socketPath) })
  const timer = setTimeout(() => resolve({ failed: `no answer within ${timeoutMs} ms`, timedOut: true }), timeoutMs)
  session.on('error', (error) => resolve({ failed: messageOf(error) }))
  const call = session.request({
    [constants.HTTP2_HEADER_METHOD]: 'POST',
    [constants.HTTP2_HEADER_PATH]: LIST,
    [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
    [constants.HTTP2_HEADER_TE]: 'trailers',
  })
  const chunks: Buffer[] = []
  let bytes = 0
  let refused: string | undefined
  call.on('response', (headers) => {
    const { ':status': status } = headers
    refused = refusalOf(headers) ?? (status === 200 ? undefined : `HTTP status ${String(status)}`)
  })
  call.on('trailers', (trailers) => (refused ??= refusalOf(trailers)))
  call.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_BYTES) resolve({ failed: `the answer is larger than ${MAX_BYTES} bytes` })
    else chunks.push(chunk)
  })
  call.on('error', (error) => resolve({ failed: messageOf(error) }))
  call.on('end', () => resolve(refused === undefined ? assignmentsOf(Buffer.concat(chunks)) : { failed: refused }))
  call.on('close', () => resolve({ failed: 'the connection was closed before the answer came' }))
  call.end(EMPTY_REQUEST)
  const listed = await promise
  clearTimeout(timer)
  session.destroy()
  return listed
}
