// The papers about the repository: what they name must exist - commands, files, flags, scenarios, keys, metrics, paths.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { catalogue } from '../../agent/catalogue.ts'
import { COMMANDS } from '../../agent/cli/index.ts'
import { COMMON_FLAGS } from '../../agent/cli/arguments.ts'
import { KEYS, SECTION_NAMES } from '../../agent/config/schema.ts'
import { summaryOf } from '../../agent/hosts/summary.ts'
import { answerMcp } from '../../agent/mcp/http.ts'
import { createExposition } from '../../agent/http/exposition.ts'
import { createReadiness } from '../../agent/http/health.ts'
import { createHttpServer } from '../../agent/http/server.ts'
import { incidentReport } from '../../agent/diagnosis/incidents/report.ts'
import { createViews } from '../../agent/http/views.ts'
import { jobIdOf } from '../../agent/jobs/identity.ts'
import { runLine } from '../../agent/jobs/line.ts'
import { jobReport } from '../../agent/jobs/report.ts'
import { isIncidentKind } from '../../agent/model/kinds.ts'
import { createLiveSink } from '../../agent/sinks/live.ts'
import * as scenarios from '../../agent/sources/simulated/scenarios/index.ts'
import { createIncidentStore } from '../../agent/store/incidents.ts'
import { createIncidentService } from '../../agent/store/incident-service.ts'
import { createOperator } from '../../agent/store/operator.ts'
import { createJobStore } from '../../agent/store/jobs.ts'
import { createMaintenanceStore } from '../../agent/store/maintenance.ts'
import { createLatestStore } from '../../agent/store/latest.ts'

const root = join(import.meta.dirname, '../..')
const papers = ['.', 'docs', 'docs/internals'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
)
const textOf = (name: string): string => readFileSync(join(root, name), 'utf8')
const readme = textOf('README.md')
/** What is in backticks, blocks of code line by line. */
const code = (text: string): readonly string[] => [
  ...Array.from(text.matchAll(/^```\w*\n([\s\S]*?)^```$/gm), (match) => (match[1] ?? '').split('\n')).flat(),
  ...Array.from(text.replace(/^```\w*\n[\s\S]*?^```$/gm, '').matchAll(/`([^`\n]+)`/g), (match) => match[1] ?? ''),
]
/** What `pattern` finds in the code of a paper, as `PAPER: FOUND`, without what is known. */
const unknown = (pattern: RegExp, isKnown: (found: string) => boolean, among = papers): readonly string[] =>
  among.flatMap((paper) =>
    code(textOf(paper)).flatMap((line) =>
      Array.from(line.matchAll(pattern), (match) => match[1] ?? '')
        .filter((found) => !isKnown(found))
        .map((found) => `${paper}: ${found}`),
    ),
  )
const found = (pattern: RegExp): number => papers.flatMap((paper) => code(textOf(paper))).filter((line) => new RegExp(pattern, '').test(line)).length

describe('what the papers name', () => {
  test('npm scripts', () => {
    const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(textOf('package.json')))
    const pattern = /\bnpm (?:-s )?(?:run (?:-s )?)?(?!run\b|ci\b|install\b|version\b|--)([a-z][\w:]*)/g
    expect(found(pattern)).toBeGreaterThan(5)
    expect(unknown(pattern, (name) => name in scripts)).toEqual([])
  })

  test('files that are linked', () => {
    const links = papers.flatMap((paper) => Array.from(textOf(paper).matchAll(/\]\(([^)#\s]+)[^)]*\)/g), (match) => ({ paper, to: match[1] ?? '' })))
    const local = links.filter(({ to }) => !/^[a-z]+:/.test(to))
    expect(local.length).toBeGreaterThan(5)
    expect(local.filter(({ paper, to }) => !existsSync(join(root, dirname(paper), to)))).toEqual([])
  })

  test('files and folders of the repository', () => {
    const pattern = /(?:^|\s)((?:agent|bench|dashboard|docs|scripts|test)\/[\w./-]*\w)/g
    expect(found(pattern)).toBeGreaterThan(5)
    // NAME, KIND and their like stand for the reader's own.
    expect(
      unknown(
        pattern,
        (path) => /\b[A-Z]{2,}\b/.test(path.replace(/(?:README|PROTOCOL)\.md$/, '')) || existsSync(join(root, path)) || existsSync(join(root, `${path}.ts`)),
      ),
    ).toEqual([])
  })

  test('commands and flags of warpwatch', async () => {
    const commands = await Promise.all(Object.values(COMMANDS).map((load) => load()))
    const flags = new Set([...Object.keys(COMMON_FLAGS), ...commands.flatMap((command) => Object.keys(command.flags))])
    expect(unknown(/\bwarpwatch -- (\w+)/g, (name) => name in COMMANDS, ['README.md'])).toEqual([])
    const lines = code(readme).filter((line) => /^--|\bnpm start\b|\bnpm run -s warpwatch\b/.test(line))
    const named = lines.flatMap((line) => Array.from(line.replace(/#.*/, '').matchAll(/--([a-z][a-z-]+)/g), (match) => match[1] ?? ''))
    expect(named.length).toBeGreaterThan(4)
    expect(named.filter((flag) => !flags.has(flag))).toEqual([])
  })

  test('every simulated scenario, and no other', () => {
    const paragraph = /`--simulate=SCENARIO`, one of ([\s\S]*?)\./.exec(readme)?.[1] ?? ''
    const named = Array.from(paragraph.matchAll(/`([\w-]+)`/g), (match) => match[1] ?? '')
    expect(named.toSorted()).toEqual(
      Object.values(scenarios)
        .map(({ name }) => name)
        .toSorted(),
    )
  })

  test('configuration keys, in the environment too', () => {
    const section = new RegExp(`^((?:${SECTION_NAMES.join('|')})\\.[a-z_]+)(?::.*)?$`, 'g')
    expect(found(section)).toBeGreaterThan(2)
    expect(unknown(section, (key) => KEYS.has(key))).toEqual([])
    // What the compose file takes from .env, which never reaches an agent.
    const ofCompose = new Set(Array.from(textOf('docker-compose.monitoring.yml').matchAll(/\$\{WARPWATCH_([A-Z_]+)/g), (match) => match[1] ?? ''))
    const isKey = (name: string): boolean => name === 'SECTION__KEY' || ofCompose.has(name) || KEYS.has(name.toLowerCase().replace('__', '.'))
    expect(unknown(/\bWARPWATCH_([A-Z_]+)/g, isKey)).toEqual([])
  })

  test('metrics', () => {
    const names = new Set(catalogue.map(({ name }) => name))
    const pattern = /(?:^|metric=)(?:warpwatch_)?((?:gpu|container|process|host|agent)_[a-z_]+)/g
    expect(found(pattern)).toBeGreaterThan(3)
    // Kinds of incidents are named likewise.
    expect(unknown(pattern, (name) => names.has(`warpwatch_${name}`) || isIncidentKind(name), ['README.md', 'ARCHITECTURE.md'])).toEqual([])
  })
})

describe('HTTP paths in the README', () => {
  const latest = createLatestStore()
  const views = createViews({ latest, hostname: 'docs' })
  const quiet = { info: () => {}, warn: () => {}, error: () => {} }
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-docs-'))
  const incidents = createIncidentStore({ directory: folder, log: quiet })
  const maintenance = createMaintenanceStore({ directory: folder, log: quiet })
  const jobs = createJobStore({ directory: folder, log: quiet })
  const figures = () => ({ firing: [], totals: new Map(), lastSeen: new Map(), forecasts: [], lost: [] })
  const service = createIncidentService({ store: incidents, maintenance, figures })
  const operator = createOperator({ incidents: service, maintenance, pipeline: { ingest: () => {}, publish: () => {} } })
  const server = createHttpServer({
    listen: '127.0.0.1:0',
    token: '',
    insecure: false,
    allowedOrigins: [],
    allowedHosts: [],
    views,
    history: undefined,
    incidents: { incidents: service.view, report: (incident) => incidentReport(incident, 'docs') },
    maintenance: operator,
    jobs: {
      view: jobs,
      waste: () => ({ host: 'docs', from: 0, to: 0, rows: [] }),
      report: (runs) => jobReport(runs, 'docs'),
      line: runLine,
      idOf: jobIdOf,
      record: () => undefined,
      send: () => undefined,
    },
    exposition: createExposition({ latest, dcgm: 'classic', hostnameLabel: 'Hostname', hostname: 'docs' }),
    live: createLiveSink({ views, hostname: 'docs', simulated: false, maxReaders: 1 }),
    ready: createReadiness(latest),
    hosts: {
      summary: () => summaryOf({ host: 'docs', version: '1', simulated: false, gpus: [], firing: [], running: 0 }, 0),
      entries: () => [],
      get: () => Promise.resolve(undefined),
      hangEvidence: () => undefined,
    },
    mcp: answerMcp,
    dashboardDir: join(root, 'dashboard'),
    runbooksDir: join(root, 'alerts/runbooks'),
    log: quiet,
  })
  let url = ''
  beforeAll(async () => {
    url = await server.listen()
  })
  afterAll(async () => {
    await server.close()
    jobs.close()
    incidents.close()
    maintenance.close()
    rmSync(folder, { recursive: true })
  })

  /** In the table, `/containers` after `/api/v1/gpus` is short for the path beside it. */
  const paths = readme
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => {
      const named = Array.from((line.split(' | ')[0] ?? '').matchAll(/`(?:http:\/\/[\w.:]+)?(\/[^`]*)`/g), (match) => match[1] ?? '')
      const api = named[0]?.startsWith('/api/v1/') === true
      return named.map((path) => (api && !path.startsWith('/api/') ? `/api/v1${path}` : path))
    })

  test('stand there', () => expect(paths.length).toBeGreaterThan(8))
  test.each(paths)('%s is served', async (path) => {
    const answer = await fetch(`${url}${path}`)
    // Without a GPU it is not ready, without a question assistants get none, without an upgrade there is no stream, without history no series: but the path is known.
    expect([200, 400, 404, 405, 503]).toContain(answer.status)
    expect(answer.status === 200 ? '' : await answer.text()).not.toContain('no such path')
    if (!path.startsWith('/api/v1/') || path === '/api/v1/openapi.json') return
    const description = z.object({ paths: z.record(z.string(), z.unknown()) }).parse(await (await fetch(`${url}/api/v1/openapi.json`)).json())
    expect(Object.keys(description.paths)).toContain(path.replace(/\?.*/, '').replace('/ID', '/{id}'))
  })
})
