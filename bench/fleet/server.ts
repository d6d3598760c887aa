// The whole fleet in one process: `/h/17/metrics` is the page of host 17, compressed as the agent compresses it. Told by its parent what to be.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import * as z from 'zod'
import { acceptsGzip, metricsFormat } from '../../agent/http/accept.ts'
import { createTemplate } from './template.ts'
import { recordingShape } from './recording.ts'

const compress = promisify(gzip)
const [file = '', churnText = '1'] = process.argv.slice(2)
const churn = Number(churnText)
const recording = recordingShape.parse(JSON.parse(readFileSync(file, 'utf8')))
const templates = { text: createTemplate(recording, 'text'), openmetrics: createTemplate(recording, 'openmetrics') }
let pages = 0
let bytes = 0

// The agent's own: a connection outlives the pause between two scrapes, or VictoriaMetrics waits two seconds before it opens another.
const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  const host = /^\/h\/(\d+)\/metrics$/.exec(request.url ?? '')?.[1]
  if (host === undefined) return void response.writeHead(404).end()
  const template = templates[metricsFormat(request.headers.accept)]
  const body = Buffer.from(template.page(Number(host), Date.now(), churn))
  const send = (sent: Buffer, headers: Readonly<Record<string, string>>): void => {
    pages += 1
    bytes += sent.length
    response.writeHead(200, { 'Content-Type': template.contentType, 'Content-Length': sent.length, ...headers }).end(sent)
  }
  if (!acceptsGzip(request.headers['accept-encoding']?.toString())) return send(body, {})
  compress(body, { level: constants.Z_BEST_SPEED }).then(
    (sent) => send(sent, { 'Content-Encoding': 'gzip' }),
    () => response.destroy(),
  )
})

const asked = z.enum(['figures'])
process.on('message', (message) => {
  asked.parse(message)
  process.send?.({ pages, bytes })
})
process.once('disconnect', () => process.exit(0))
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address !== 'string') process.send?.({ port: address.port })
})
