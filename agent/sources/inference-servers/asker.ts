// Asks one server: allowed GETs only, one after the other, bounded, silent while it sleeps, and never again after it wanted a key.
import { gunzipSync } from 'node:zlib'
import type { KeptClient } from '../../lib/kept-client.ts'
import { releaseBuffer } from '../../lib/release-buffer.ts'
import type { Answer, Family, Page } from '../../servers/family.ts'
import { joined, type ServerFigures } from '../../servers/model.ts'
import type { Recognised } from '../../servers/recognise.ts'
import { createSeenPage, type SeenPage } from '../../servers/seen-page.ts'

export type AskerOptions = {
  readonly recognised: Pick<Recognised, 'by'> & { readonly family: Pick<Family, 'proof' | 'pages' | 'keyed' | 'prefixFlag'> }
  readonly base: string
  readonly argv: readonly string[]
  /** Its other histograms are not read. */
  readonly quantilesOnly?: boolean
  readonly key?: string
  readonly client: Pick<KeptClient, 'exchange'>
  readonly signal: AbortSignal
}
export type Said = {
  readonly figures: ServerFigures
  /** Read in this round; counters in it may be compared with those of another. */
  readonly fresh: ServerFigures
  /** For how long it has let each request run out of time, of which it took the connection; absent when it is not asked. */
  readonly unansweredMs?: number
  /** Why figures are missing, for a person. */
  readonly problem?: string
  /** It is another thing than it was taken for. */
  readonly isStranger?: true
}
export type Asker = (t: number, heldBytes: number) => Promise<Said>

const TIMEOUT_MS = 2_000
const MAX_BYTES = 2 * 2 ** 20
const RARE_MS = 60_000
const BACK_OFF_MS = 60_000
const FAILURES = 3
/** A model that is loaded again takes more than this. */
const WOKEN_BYTES = 64 * 2 ** 20
/** Such a page is not there in this version or not switched on. */
const ABSENT = new Set([400, 404, 405, 410, 501])

type Got = ({ readonly kind: 'body' } & Answer) | { readonly kind: 'absent' | 'loading' | 'key' } | { readonly kind: 'failed'; readonly why: string }

/** Mounted applications answer for their path with a slash behind it, and send there whoever asks without. */
const MOVED = new Set([301, 302, 307, 308])
function isSlashed(url: URL, location: string | readonly string[] | undefined): boolean {
  if (typeof location !== 'string' || url.pathname.endsWith('/') || !URL.canParse(location, url.href)) return false
  const to = new URL(location, url)
  return to.pathname === `${url.pathname}/` && to.search === url.search
}

/** Where all of its pages are, as its command line says: `/llm`, empty mostly. */
function prefixIn(argv: readonly string[], flag: string | undefined): string {
  if (flag === undefined) return ''
  const at = argv.findIndex((word) => word === flag || word.startsWith(`${flag}=`))
  const text = at < 0 ? '' : argv[at] === flag ? (argv[at + 1] ?? '') : (argv[at] ?? '').slice(flag.length + 1)
  const path = text.replace(/^\/+|\/+$/g, '')
  return /^[\w.~/-]{1,200}$/.test(path) && !path.includes('..') ? `/${path}` : ''
}

function textOf(body: Buffer, encoding: string | readonly string[] | undefined): string | undefined {
  // It was not asked for, but a proxy before a server may compress.
  if (encoding !== 'gzip') return body.toString('utf8')
  try {
    return gunzipSync(body, { maxOutputLength: MAX_BYTES }).toString('utf8')
  } catch {
    return undefined
  }
}

export function createAsker({ recognised: { family, by }, base, argv, quantilesOnly = false, key, client, signal }: AskerOptions): Asker {
  let isProven = false
  let stopped: string | undefined
  let stranger = false
  let failures = 0
  let notBefore = 0
  let asleepWith: number | undefined
  let hasAnswered = false
  /** The first request after its last answer that ran out of time. */
  let silentSince: number | undefined
  const absent = new Set<string>()
  const rare = new Map<string, ServerFigures>()
  const seen = new Map<string, SeenPage>()
  const seenAt = (path: string): SeenPage => {
    let page = seen.get(path)
    if (page === undefined) seen.set(path, (page = createSeenPage()))
    return page
  }
  /** Also of a page that said nothing that can be read. */
  const askedAt = new Map<string, number>()
  let proof: ServerFigures = {}
  let last: ServerFigures = {}

  // Ollama answers on loopback only to names of its own.
  const headers = { host: 'localhost', accept: '*/*', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) }
  const prefix = prefixIn(argv, family.prefixFlag)
  const { keyed } = family
  const isLocked = key === undefined && keyed !== undefined && argv.some((word) => keyed.flag.test(word))
  const mayAsk = (path: string): boolean => !isLocked || keyed.open.includes(path)
  const urls = new Map<string, URL>()
  const get = async (path: string, t: number): Promise<Got> => {
    if (signal.aborted) return { kind: 'failed', why: 'given up' }
    const url = urls.get(path) ?? new URL(prefix + path, base)
    urls.set(path, url)
    const result = await client.exchange({ url, headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES })
    if ('failure' in result) {
      const { kind, connected, status, text } = result.failure
      // What takes no connection may be out of our own reach.
      const isSilent = kind === 'timeout' && connected && status === undefined
      silentSince = isSilent ? (silentSince ?? t) : undefined
      return { kind: 'failed', why: `GET ${path}: ${text}` }
    }
    hasAnswered = true
    silentSince = undefined
    const { status, body, cut } = result.answer
    if (status === 401 || status === 403) return { kind: 'key' }
    const { headers: sent } = result.answer
    if (MOVED.has(status) && isSlashed(url, sent.location)) {
      urls.set(path, new URL(`${url.pathname}/${url.search}`, url))
      return get(path, t)
    }
    const text = textOf(body, sent['content-encoding'])
    releaseBuffer(body)
    if (text === undefined) return { kind: 'failed', why: `GET ${path}: the answer cannot be unpacked` }
    if (status === 503 && text.includes('Loading model')) return { kind: 'loading' }
    if (ABSENT.has(status)) return { kind: 'absent' }
    if (status !== 200) return { kind: 'failed', why: `GET ${path}: status ${status} instead of 200` }
    return cut ? { kind: 'failed', why: `GET ${path}: more than 2 MiB` } : { kind: 'body', body: text, headers: sent }
  }
  const said = (fresh: ServerFigures, problem?: string): Said => ({ figures: last, fresh, ...(problem === undefined ? {} : { problem }) })
  const failed = (t: number, why: string): Said => {
    failures++
    if (failures >= FAILURES) notBefore = t + BACK_OFF_MS
    last = joined(...rare.values(), proof)
    return said({}, why)
  }
  const refused = (): Said => {
    stopped =
      key === undefined
        ? 'it requires a key: set one under servers.keys; it is not contacted again until it restarts'
        : 'it refused the key of servers.keys; it is not contacted again until it restarts'
    last = proof
    return said({}, stopped)
  }
  const loading = (): Said => {
    last = joined({ state: 'loading' }, proof)
    return said({})
  }

  /** undefined: it is what it was taken for. */
  const prove = async (t: number): Promise<Said | undefined> => {
    isProven = isLocked && !mayAsk(family.proof.path)
    if (isProven) return undefined
    const got = await get(family.proof.path, t)
    if (got.kind === 'key') return refused()
    if (got.kind === 'loading') return loading()
    if (got.kind === 'failed') return failed(t, got.why)
    const read = 'body' in got ? family.proof.read(got) : undefined
    if (read === undefined && by !== 'command') {
      stranger = true
      return { ...said({}), isStranger: true }
    }
    isProven = true
    proof = read ?? {}
    return undefined
  }

  const isDue = ({ path, rate }: Page, t: number): boolean =>
    !absent.has(path) && mayAsk(path) && (rate === 'scrape' || t - (askedAt.get(path) ?? -Infinity) >= RARE_MS)

  const round = async (t: number, heldBytes: number): Promise<Said> => {
    if (stranger) return { ...said({}), isStranger: true }
    if (stopped !== undefined) return said({}, stopped)
    if (t < notBefore) return said({}, 'it failed three times in a row; it is asked again after a minute')
    if (asleepWith !== undefined && heldBytes - asleepWith < WOKEN_BYTES) {
      asleepWith = Math.min(asleepWith, heldBytes)
      return said({})
    }
    asleepWith = undefined
    if (!isProven) {
      const unproven = await prove(t)
      if (unproven !== undefined) return unproven
    }
    let fresh: ServerFigures = {}
    for (const page of family.pages) {
      if (!isDue(page, t)) continue
      const whole = joined(fresh, ...rare.values(), proof)
      if (page.when?.({ argv, figures: whole }) === false) continue
      askedAt.set(page.path, t)
      const got = await get(page.path, t)
      if (got.kind === 'key') return refused()
      if (got.kind === 'loading') return loading()
      if (got.kind === 'failed') return failed(t, got.why)
      if (got.kind === 'absent') {
        absent.add(page.path)
        continue
      }
      if (!('body' in got)) continue
      const read = page.read(got.body, { argv, figures: whole, quantilesOnly, seen: seenAt(page.path) })
      if (read === undefined) continue
      fresh = joined(fresh, read)
      if (page.rate === 'rare') rare.set(page.path, read)
      if (read.state === 'sleeping') {
        asleepWith = heldBytes
        break
      }
    }
    failures = 0
    last = joined(fresh, ...rare.values(), proof)
    return said(fresh)
  }

  return async (t, heldBytes) => {
    const reported = await round(t, heldBytes)
    const isAsked = stopped === undefined && asleepWith === undefined && reported.isStranger !== true
    return !isAsked || !hasAnswered ? reported : { ...reported, unansweredMs: silentSince === undefined ? 0 : t - silentSince }
  }
}
