// Services beside the GPUs whose health is asked over HTTP.
import * as z from 'zod/mini'
import { HIDDEN, shownUrl } from '../../lib/shown-url.ts'
import { httpUrl, optionalWholeNumber, text, texts, wholeNumber, type Field, type PartProblem, type ReadParts } from '../field.ts'
import { readGroups } from '../groups.ts'

/** Not by an import: it makes all of node:http, and undici with it, wherever a configuration is read (agent/cli/ask-agent.ts). */
const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule('node:http')

export type TargetConfig = {
  readonly name: string
  readonly url: string
  readonly interval_ms: number
  readonly timeout_ms: number
  /** undefined: any from 200 to 299. */
  readonly expect_status?: number
  /** Name of the container that the service runs in. */
  readonly container?: string
  readonly headers: Readonly<Record<string, string>>
}

/** A check takes the agent about a millisecond. */
const MAX_TARGETS = 64
const TIMEOUT_MS = 5_000

export function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}

const fields = {
  name: text({
    default: '',
    // Begins and ends with a letter or digit: it is in metrics, titles and commands.
    pattern: /^[A-Za-z0-9](?:[A-Za-z0-9 _.:/-]{0,61}[A-Za-z0-9])?$/,
    expected: 'a name of at most 63 letters, digits and - _ . : / between them',
    description: 'Name of the service.',
  }),
  url: httpUrl({ default: '', expected: 'a URL such as http://127.0.0.1:7860/api/health', description: 'URL of the health check (GET).', secret: true }),
  interval_ms: wholeNumber({ default: 10_000, min: 1_000, max: 3_600_000, description: 'Time between two requests.' }),
  timeout_ms: optionalWholeNumber({ min: 100, max: 60_000, description: 'Timeout of the whole answer.' }),
  expect_status: optionalWholeNumber({ min: 100, max: 599, description: 'Expected status code.' }),
  container: text({ default: '', pattern: /^[A-Za-z0-9_./-]{0,255}$/, expected: "a container's name", description: 'The container it runs in.' }),
  headers: texts({ default: {}, secret: true, valid: isHeader, expected: 'header names and their values', description: 'Headers sent with each request.' }),
}

const read: ReadParts<readonly TargetConfig[]> = (value) => {
  const { groups, problems: found } = readGroups(value, { fields, required: ['name', 'url'], expected: 'a list of targets', max: MAX_TARGETS })
  const problems: PartProblem[] = [...found]
  const names = new Set<string>()
  const targets = groups.map(({ at, values }): TargetConfig => {
    const { name, interval_ms, timeout_ms = Math.min(TIMEOUT_MS, interval_ms), expect_status, container, headers } = values
    if (names.has(name)) problems.push({ path: [at, 'name'], text: `another target is also called ${JSON.stringify(name)}; choose another name` })
    names.add(name)
    if (timeout_ms > interval_ms) problems.push({ path: [at, 'timeout_ms'], text: `must be at most interval_ms (${interval_ms}), not ${timeout_ms}` })
    return {
      name,
      url: values.url,
      interval_ms,
      timeout_ms,
      ...(expect_status === undefined ? {} : { expect_status }),
      ...(container === '' ? {} : { container }),
      headers,
    }
  })
  return problems.length === 0 ? { value: targets } : { problems }
}

export const targets: Field<readonly TargetConfig[]> = {
  kind: 'parts',
  schema: z.custom<readonly TargetConfig[]>((value) => Array.isArray(value)),
  read,
  expected: 'a list of targets',
  default: [],
  description: 'Services beside the GPUs whose health is checked by HTTP GET. URLs and headers are shown without their secrets.',
  secret: false,
  shown: (found) =>
    found.map((target) => ({ ...target, url: shownUrl(target.url), headers: Object.fromEntries(Object.keys(target.headers).map((name) => [name, HIDDEN])) })),
  example: [
    'Each has a name and a url; interval_ms is 10000, timeout_ms 5000, expect_status any from 200 to 299 unless set. A redirect to another host is not followed.',
    'With the name of its container a service that answers while the GPU of its container is dead is reported, too.',
    '- {name: ui, url: "http://127.0.0.1:7860/api/health", container: trainer, interval_ms: 10000, timeout_ms: 5000, headers: {Authorization: "Bearer TOKEN"}}',
  ],
}
