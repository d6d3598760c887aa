// A small client of the Docker Engine API (and Podman's compatible one) over its Unix socket: list, inspect, events, logs. Reads only.
import { StringDecoder } from 'node:string_decoder'
import type * as z from 'zod/mini'
import { createHttpClient, readBody, type HttpAnswer, type HttpCall } from '../../lib/http-client.ts'
import { createLineSplitter } from '../../text/line-splitter.ts'
import { EngineError, refusal, toEngineError } from './engine-error.ts'
import { readEngineLog, type LogEnd, type LogRequest } from './engine-log.ts'
import { describeIssues, eventSchema, inspectSchema, listSchema } from './engine-schema.ts'
import type { EngineEvent, InspectedContainer, ListedContainer } from './engine-schema.ts'

export type EngineClientOptions = {
  readonly socketPath: string
  /** A whole request from its start to the last byte of its answer. Docker answers a list in 2 ms. */
  readonly timeoutMs?: number
  readonly maxBodyBytes?: number
  readonly maxEventBytes?: number
}

type Checks<Schema extends z.core.$ZodType> = Schema & { safeParse: (value: unknown) => z.core.util.SafeParseResult<z.output<Schema>> }

export type EngineClient = {
  /** Running containers. */
  readonly list: () => Promise<readonly ListedContainer[]>
  /** undefined: no such container (any more). */
  readonly inspect: (id: string) => Promise<InspectedContainer | undefined>
  /** Any other answer of one JSON value; undefined: no such container. */
  readonly ask: <Schema extends z.core.$ZodType>(path: string, schema: Checks<Schema>) => Promise<z.output<Schema> | undefined>
  /**
   * Follows the container events from a time (Unix seconds) on. Resolves when the engine ends the stream, rejects when it breaks;
   * an event of an unknown form goes to `onMalformed` and is skipped.
   */
  readonly events: (options: {
    readonly sinceSeconds: number
    readonly signal: AbortSignal
    readonly onEvent: (event: EngineEvent) => void
    readonly onMalformed: (detail: string) => void
  }) => Promise<void>
  /** Hands on the bytes of a container's log as they come, until its end or that of the container's run. */
  readonly log: (request: LogRequest) => Promise<LogEnd>
  /** Ends the questions that are on their way; events and logs end by their signals. */
  readonly close: () => void
}

export function createEngineClient(options: EngineClientOptions): EngineClient {
  const { socketPath, timeoutMs = 5_000, maxBodyBytes = 16 * 1024 * 1024, maxEventBytes = 256 * 1024 } = options
  const asking = createHttpClient({ socketPath, keep: 4 })
  const following = createHttpClient({ socketPath })
  // Without a version in the path the daemon uses its own: Docker 29 refuses clients below 1.44, 20.10 those above 1.41.
  const callOf = (path: string): HttpCall => ({ url: new URL(path, 'http://docker'), headers: { accept: 'application/json' } })
  const doing = (path: string): string => `GET ${path.split('?')[0]} on ${socketPath}`

  const refuse = (path: string, status: number, body: string): EngineError => refusal(`GET ${path} on ${socketPath}`, status, body, [400, 404])
  const textOf = ({ body, cut }: Pick<HttpAnswer, 'body' | 'cut'>): string => {
    if (cut) throw new EngineError('parse_error', `GET on ${socketPath}: the answer is longer than ${maxBodyBytes} bytes`)
    return body.toString('utf8')
  }
  const getJson = async <Schema extends z.core.$ZodType>(path: string, schema: Checks<Schema>): Promise<z.output<Schema> | undefined> => {
    const result = await asking.exchange({ ...callOf(path), timeoutMs, maxBytes: maxBodyBytes })
    if ('failure' in result) {
      const { kind, error } = result.failure
      if (kind === 'timeout') throw new EngineError('timeout', `${doing(path)}: no complete answer within ${timeoutMs} ms`)
      throw toEngineError(error, doing(path))
    }
    const { status } = result.answer
    const body = textOf(result.answer)
    if (status === 404 && /no such container/i.test(body)) return undefined
    if (status !== 200) throw refuse(path, status, body)
    let parsed: unknown
    try {
      parsed = JSON.parse(body)
    } catch (cause) {
      throw new EngineError('parse_error', `GET ${path} on ${socketPath}: the answer is no JSON: ${JSON.stringify(body.slice(0, 80))}`, { cause })
    }
    const checked = schema.safeParse(parsed)
    if (!checked.success) throw new EngineError('parse_error', `GET ${path} on ${socketPath}: ${describeIssues(checked.error)}`, { cause: checked.error })
    return checked.data
  }

  return {
    async list() {
      return (await getJson('/containers/json', listSchema)) ?? []
    },
    inspect: async (id) => await getJson(`/containers/${id}/json`, inspectSchema),
    ask: getJson,
    async events({ sinceSeconds, signal, onEvent, onMalformed }) {
      const filters = encodeURIComponent(JSON.stringify({ type: ['container'] }))
      const path = `/events?since=${sinceSeconds.toFixed(3)}&filters=${filters}`
      const handle = (line: string): void => {
        if (line.trim() === '') return
        let parsed: unknown
        try {
          parsed = JSON.parse(line)
        } catch {
          onMalformed(`a line of the engine's events is no JSON object: ${JSON.stringify(line.slice(0, 80))}`)
          return
        }
        const checked = eventSchema.safeParse(parsed)
        if (checked.success) onEvent(checked.data)
        else onMalformed(describeIssues(checked.error))
      }
      try {
        const answer = await following.open({ ...callOf(path), signal })
        if (answer.statusCode !== 200) throw refuse('/events', answer.statusCode ?? 0, textOf(await readBody(answer, maxBodyBytes)))
        const decoder = new StringDecoder('utf8')
        const onOverlong = (): never => {
          throw new EngineError('parse_error', `GET /events on ${socketPath}: an event is longer than ${maxEventBytes} bytes`)
        }
        const splitter = createLineSplitter({ maxChars: maxEventBytes, overlong: 'drop', onOverlong })
        for await (const chunk of answer as AsyncIterable<Buffer>) for (const line of splitter.push(decoder.write(chunk))) handle(line)
      } catch (error) {
        if (signal.aborted) throw new EngineError('timeout', `${doing(path)}: given up`)
        throw toEngineError(error, doing(path))
      }
    },
    log: (request) => readEngineLog(socketPath, request),
    close: () => asking.close(),
  }
}
