// The /metrics page: the latest values as Prometheus text 0.0.4 or OpenMetrics 1.0, rendered at most once per tick and shared by all readers.
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { Series } from '../model/series.ts'
import type { LatestGroup, LatestStore } from '../store/latest.ts'
import { createBytes, type Bytes } from './exposition/bytes.ts'
import { createDcgmNames, scaled, type Alias, type DcgmMode } from './exposition/dcgm.ts'
import { createDcgmLabels, type HostnameLabel, type IdentityLabel } from './exposition/dcgm-labels.ts'
import { createGpuCountRows } from './exposition/gpu-count.ts'
import { PROCESS_MEMORY, type HolderMode, type JobMapping } from './exposition/holders.ts'
import { closeFamily, createFamily, createRow, enterRow, type Family, type FamilyText, type Row } from './exposition/row.ts'
import { createXidRows } from './exposition/xid.ts'

export type ExpositionFormat = 'text' | 'openmetrics'

export type Page = {
  readonly contentType: string
  /** Valid until the next rendering, or as long as it is held. */
  readonly body: Buffer
  /** Keeps the body whole while it is being sent; gives the function that lets it go. */
  readonly hold: () => () => void
  /** Compressed once, when the first reader asks for it. */
  readonly gzipped: () => Promise<Buffer>
}

export type Exposition = {
  /** To be called at each tick: the next reader gets a new rendering. */
  readonly invalidate: () => void
  readonly page: (format: ExpositionFormat) => Page
  /** How many times the page was really rendered, whatever the number of readers. */
  readonly renderings: () => number
}

export type ExpositionOptions = {
  readonly latest: Pick<LatestStore, 'groups' | 'inventory'>
  readonly dcgm: DcgmMode
  readonly hostnameLabel: HostnameLabel
  readonly hostname: string
  /** What the DCGM_* series say about who holds a GPU; `auto` when absent. */
  readonly holders?: HolderMode
  readonly identity?: readonly IdentityLabel[]
  readonly jobs?: JobMapping | undefined
  /** Milliseconds of a clock that only rises. */
  readonly now?: () => number
}

const CONTENT_TYPES: Readonly<Record<ExpositionFormat, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
}
const gzipAsync = promisify(gzip)

/** A series' own row and those under other exporters' names. */
type Entry = { readonly row: Row; series: Series; aliases: readonly AliasRow[]; aliasVersion: number }
type AliasRow = { readonly row: Row; readonly scale: number }

type Sheet = { readonly bytes: Bytes; holders: number }

function pageOf(sheet: Sheet, contentType: string): Page {
  const body = sheet.bytes.view().subarray(0, sheet.bytes.length())
  let compressed: Promise<Buffer> | undefined
  return {
    contentType,
    body,
    hold() {
      let held = true
      sheet.holders += 1
      return () => {
        if (held) sheet.holders -= 1
        held = false
      }
    },
    // Level 1: a page of numbers shrinks to a tenth already, at a third of the default level's time. Runs in libuv's pool.
    gzipped: () => (compressed ??= gzipAsync(body, { level: constants.Z_BEST_SPEED })),
  }
}

export function createExposition(options: ExpositionOptions): Exposition {
  const { latest, dcgm, hostnameLabel, hostname, identity = [], now = () => performance.now() } = options
  const labels = createDcgmLabels({
    inventory: latest.inventory,
    hostnameLabel,
    hostname,
    identity,
    holders: { mode: options.holders ?? 'auto', jobs: options.jobs, now },
  })
  const names = createDcgmNames(dcgm, labels)
  const families = new Map<string, Family>()
  let sorted: readonly Family[] = []
  const entries = new Map<string, Entry>()
  const aliasRows = new Map<string, Row>()
  const pages = new Map<ExpositionFormat, Page>()
  const sheets = new Map<ExpositionFormat, Sheet>()
  /** By source and group, the entries at the places of their readings. */
  const places = new Map<string, Entry[]>()
  /** Sample lines of the newest rendering and of the one before, which lends what did not change. */
  let lines = createBytes()
  let spare = createBytes()
  let generation = 0
  let stale = true

  const familyOf = (def: FamilyText): Family => {
    const known = families.get(def.name)
    if (known !== undefined) return known
    const family = createFamily(def)
    families.set(family.name, family)
    sorted = [...families.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
    return family
  }
  const xids = dcgm === 'off' ? undefined : createXidRows(names.generations, labels, latest.inventory, familyOf)
  const gpuCount = dcgm === 'off' ? undefined : createGpuCountRows(names.generations, labels, familyOf)
  const aliasRowOf = ({ name, key }: Alias): AliasRow => {
    let row = aliasRows.get(key)
    if (row === undefined) {
      row = createRow(familyOf({ name: name.name, kind: name.kind, unit: '', help: name.help }), key)
      aliasRows.set(key, row)
    }
    return { row, scale: name.scale }
  }
  const entryOf = (series: Series): Entry => {
    let entry = entries.get(series.key)
    if (entry === undefined) {
      entry = { row: createRow(familyOf(series.metric), series.key), series, aliases: [], aliasVersion: -1 }
      entries.set(series.key, entry)
    }
    entry.series = series
    return entry
  }

  /** Drops rows of series that are gone, once they are many, so that churn of processes and containers costs no memory. */
  const sweep = (seen: number): void => {
    if (entries.size <= 2 * seen + 256) return
    for (const [key, entry] of entries) if (entry.row.generation !== generation) entries.delete(key)
    for (const [key, row] of aliasRows) if (row.generation !== generation) aliasRows.delete(key)
    places.clear()
  }

  const collectGroup = (group: LatestGroup): void => {
    const { t, readings } = group
    const key = `${group.source}\n${group.group}`
    let known = places.get(key)
    if (known === undefined) {
      known = []
      places.set(key, known)
    }
    for (let i = 0; i < readings.length; i += 1) {
      const reading = readings[i]
      if (reading === undefined || !Number.isFinite(reading.value)) continue // finite by its type; a NaN would poison sums
      const { series, value } = reading
      // A source reports its series in the same order each time, so the place finds the entry without hashing its key.
      let entry = known[i]
      if (entry?.series !== series) {
        entry = entryOf(series)
        known[i] = entry
      }
      if (series.metric.dcgm !== undefined && entry.aliasVersion !== labels.version()) {
        entry.aliases = names.aliasesOf(series).map(aliasRowOf)
        entry.aliasVersion = labels.version()
      }
      enterRow(entry.row, value, t, generation)
      for (const alias of entry.aliases) enterRow(alias.row, scaled(value, alias.scale), t, generation)
      xids?.see(reading, group)
    }
  }

  /** Who the GPUs are and who holds them, before any row is made, so that its labels are those of this tick. */
  const learnLabels = (): void => {
    labels.begin()
    for (const { readings, gaps } of latest.groups()) {
      for (let at = 0; at < readings.length; at++) {
        const reading = readings[at]
        if (reading !== undefined) labels.learn(reading.series)
      }
      for (const gap of gaps) if (gap.metric === PROCESS_MEMORY) labels.learnProcess(gap.labels)
    }
    labels.end()
  }

  const collect = (): void => {
    generation += 1
    xids?.begin()
    if (dcgm !== 'off') learnLabels()
    let seen = 0
    for (const group of latest.groups()) {
      collectGroup(group)
      seen += group.readings.length
    }
    xids?.end(latest.groups(), generation)
    gpuCount?.enter(latest.groups(), generation)
    const before = lines
    lines = spare
    spare = before
    lines.reset()
    for (const family of sorted) closeFamily(family, lines, before)
    sweep(seen)
  }

  const render = (format: ExpositionFormat): Page => {
    // The bytes of the last page are written over once they are no longer being sent: new ones each second would be 2 MB of garbage
    // outside the heap, for which the collector stops everything (measured with 10,000 series: each 23rd rendering took 10 ms more).
    let sheet = sheets.get(format)
    if (sheet === undefined || sheet.holders > 0) {
      sheet = { bytes: createBytes(lines.length() + 256 * sorted.length), holders: 0 }
      sheets.set(format, sheet)
    }
    const { bytes } = sheet
    bytes.reset()
    for (const family of sorted) {
      if (family.live.length === 0) continue
      bytes.text(format === 'text' ? family.textHead : family.openMetricsHead)
      bytes.copy(lines, family.start, family.end)
    }
    if (format === 'openmetrics') bytes.text('# EOF\n')
    return pageOf(sheet, CONTENT_TYPES[format])
  }

  let renderings = 0
  return {
    invalidate: () => (stale = true),
    renderings: () => renderings,
    page(format) {
      if (stale) {
        stale = false
        pages.clear()
        collect()
        renderings += 1
      }
      let page = pages.get(format)
      if (page === undefined) {
        page = render(format)
        pages.set(format, page)
      }
      return page
    },
  }
}
