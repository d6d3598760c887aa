// Every query of every Grafana dashboard, and every variable, against a real Prometheus and a real VictoriaMetrics that scrape a small fleet: none is empty by mistake.
// Long: about 60 s.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { poll } from '../setup/poll.ts'
import { committed, type Committed } from '../unit/grafana/committed.ts'
import { EMPTY_BECAUSE } from './grafana-empty.ts'
import { enginesMissing, startEngines, type Engine } from './grafana-engines.ts'
import { choicesOf, dataOf, substituted, type Values } from './grafana-queries.ts'
import { startScene, type Scene } from './grafana-scene.ts'

/** The forecast of a leak wants more than a minute of it; the machine may be slow besides. */
const DEADLINE_MS = 240_000

type Asked = { readonly name: string; readonly board: Committed; readonly expr: string; readonly instant: boolean }
const asked: readonly Asked[] = committed.flatMap((board) => [
  ...board.charts.flatMap(({ title, targets }) =>
    targets.map(({ refId, expr, instant }) => ({ name: `${board.file}: ${title}, ${refId}`, board, expr, instant })),
  ),
  ...board.annotations.list.map(({ name, expr }) => ({ name: `${board.file}: annotation ${name}`, board, expr, instant: false })),
])
const names = new Set(asked.map(({ name }) => name))

/** The choices of each variable that depends on others come after theirs, as in the dashboards. */
async function valuesOf(engine: Engine, board: Committed): Promise<Values> {
  const values: Record<string, string | readonly string[]> = {}
  for (const variable of board.templating.list) {
    const choices = await choicesOf(engine.url, variable, values)
    if (variable.type === 'query' && choices.length === 0) throw new Error(`${board.file}: expected choices of ${variable.name}, came none`)
    // Where all can be chosen, that is how the dashboard opens; else each choice is looked at, together.
    values[variable.name] = variable.allValue ?? choices
  }
  return values
}

describe.skipIf(enginesMissing !== undefined)(`Grafana's dashboards${enginesMissing === undefined ? '' : ` (${enginesMissing})`}`, () => {
  let scene: Scene
  let engines: readonly Engine[] = []
  let stop: (() => Promise<void>) | undefined
  /** By engine and query: whether it has ever had something to show. */
  const shown = new Map<string, boolean>()
  const errors = new Map<string, string>()
  const key = (engine: Engine, name: string): string => `${engine.name}, ${name}`

  /** Asks again what was empty, and tells how many of those that should show something do not. */
  async function round(): Promise<number> {
    for (const engine of engines)
      for (const board of committed) {
        const open = asked.filter((each) => each.board === board && shown.get(key(engine, each.name)) !== true)
        if (open.length === 0) continue
        const values = await valuesOf(engine, board).catch((error: unknown) => String(error))
        for (const { name, expr, instant } of open) {
          const at = key(engine, name)
          const found =
            typeof values === 'string' ? values : await dataOf(engine.url, substituted(expr, values), instant).catch((error: unknown) => String(error))
          if (typeof found === 'string') errors.set(at, found)
          else errors.delete(at)
          shown.set(at, typeof found !== 'string' && found.length > 0)
        }
      }
    return [...shown].filter(([at, is]) => !is && !Object.keys(EMPTY_BECAUSE).some((name) => at.endsWith(`, ${name}`))).length
  }

  beforeAll(async () => {
    scene = await startScene()
    ;({ engines, stop } = await startEngines(scene.targets))
    // What is still empty at the deadline, the tests below say one by one.
    await poll(async () => (await round()) === 0, { what: 'every query to have shown something', deadlineMs: DEADLINE_MS, everyMs: 4_000 }).catch(() => {})
  }, DEADLINE_MS + 120_000)
  afterAll(async () => {
    await stop?.()
    await scene?.stop()
  })

  test('two engines were asked, and many queries', () => {
    expect(engines.map(({ name }) => name)).toEqual(['Prometheus', 'VictoriaMetrics'])
    expect(names.size).toBe(asked.length)
    expect(names.size).toBeGreaterThan(150)
  })

  test('every reason for an empty query belongs to one', () => {
    expect(Object.keys(EMPTY_BECAUSE).filter((name) => !names.has(name))).toEqual([])
  })

  test.each(asked)('$name', ({ name }) => {
    for (const engine of engines) {
      const at = key(engine, name)
      expect(errors.get(at), `asked of ${at}`).toBeUndefined()
      expect(shown.get(at), `shown of ${at}`).toBe(EMPTY_BECAUSE[name] === undefined)
    }
  })

  test.each(committed)('$file: every variable has choices', async (board) => {
    // It throws where one has none.
    for (const engine of engines) await expect(valuesOf(engine, board)).resolves.toHaveProperty('job')
  })

  test('who chooses one host and one card sees that host and that card', async () => {
    const board = committed.find(({ file }) => file === 'gpu.json')
    const target = asked.find(({ name }) => name === 'gpu.json: MIG instances, A')
    if (board === undefined || target === undefined) throw new Error('expected the dashboard of a GPU with its panel of MIG instances, came none')
    for (const engine of engines) {
      const all = await valuesOf(engine, board)
      const mig = scene.targets.at(-1) ?? ''
      const variable = board.templating.list.find(({ name }) => name === 'gpu')
      if (variable === undefined) throw new Error('expected a variable gpu, came none')
      const cards = await choicesOf(engine.url, variable, { ...all, instance: [mig] })
      expect(cards.length, `cards in ${engine.name}`).toBe(8)
      const seen = await Promise.all(
        cards.map(async (card) => (await dataOf(engine.url, substituted(target.expr, { ...all, instance: [mig], gpu: [card] }), false)).length),
      )
      // Two instances, on one card of this host alone.
      const sorted = seen.toSorted((a, b) => a - b)
      expect(sorted, `instances in ${engine.name}`).toEqual([0, 0, 0, 0, 0, 0, 0, 2])
    }
  })
})
