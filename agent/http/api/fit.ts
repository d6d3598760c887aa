// Whether a model fits this host's GPUs: /api/v1/fit, and what each of them has left. Reckons only; no files are read and nothing is changed.
import type { Context, Hono } from 'hono'
import type { Reply } from '../compress.ts'
import type { GpuRoom } from '../../model/fit.ts'
import type { HistoryView } from '../../store/history-view.ts'
import type { Refusal } from '../errors.ts'
import type { Views } from '../views.ts'

/** Of a config.json; the largest that are published have some hundred kilobytes. */
export const MAX_CONFIG_BYTES = 1024 * 1024
const MAX_NAME = 100

type Answers = {
  readonly answer: (c: Context, value: unknown) => Reply
  readonly refuse: (c: Context, refusal: Refusal) => Response
}
export type FitApi = { readonly views: Views; readonly history: HistoryView | undefined; readonly now: () => number }

export function addFit(app: Hono, { views, history, now }: FitApi, { answer, refuse }: Answers): void {
  const rooms = async (): Promise<readonly GpuRoom[]> => (await import('./fit-rooms.ts')).roomsOf(views.rows(), history, now())
  const reckon = async (c: Context, config: unknown): Promise<Response> => {
    const bad = (message: string): Response => refuse(c, { code: 'bad_request', message })
    const [{ cardsNamed }, { readConfig }, { modelOf, parseParameters, ModelError }, { parseSettings, SETTINGS }, { fitReport }, { ConfigShapeError }] =
      await Promise.all([
        import('../../fit/cards.ts'),
        import('../../fit/hf-config.ts'),
        import('../../fit/model.ts'),
        import('../../fit/settings.ts'),
        import('../../fit/report.ts'),
        import('../../fit/hf-fields.ts'),
      ])
    const search = new URL(c.req.url).searchParams
    const names = ['params', 'gpu', 'name', ...Object.keys(SETTINGS)]
    for (const name of search.keys()) {
      if (!names.includes(name)) return bad(`${name.slice(0, 50)}: unknown parameter; there are ${names.join(', ')}`)
      if (search.getAll(name).length > 1) return bad(`${name}: is given ${search.getAll(name).length} times: give it once`)
    }
    const word = (name: string): string | undefined => search.get(name) ?? undefined
    try {
      const read = config === undefined ? undefined : readConfig(config)
      const params = word('params')
      const size = params === undefined ? undefined : parseParameters(params)
      const model = modelOf({
        name: (word('name') ?? params ?? read?.modelType ?? 'model').slice(0, MAX_NAME),
        ...(size === undefined ? {} : { params: size }),
        ...(read === undefined ? {} : { config: read }),
      })
      const parsed = parseSettings(Object.fromEntries(search), read?.dtype)
      if ('problem' in parsed) return bad(parsed.problem)
      const gpu = word('gpu')
      const cards = gpu === undefined ? await rooms() : cardsNamed(gpu)
      return 'problem' in cards ? bad(cards.problem) : answer(c, fitReport(model, parsed.settings, cards))
    } catch (error) {
      if (error instanceof ModelError || error instanceof ConfigShapeError) return bad(error.message)
      throw error
    }
  }
  app.get('/api/v1/fit', (c) => reckon(c, undefined))
  app.post('/api/v1/fit', async (c) => {
    let config: unknown
    try {
      config = await c.req.json()
    } catch {
      return refuse(c, { code: 'bad_request', message: 'body: this is no JSON; send the config.json of a Hugging Face model' })
    }
    return reckon(c, config)
  })
  app.get('/api/v1/fit/gpus', async (c) => answer(c, await rooms()))
}
