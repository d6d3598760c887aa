// Makes grafana/dashboards/*.json from the typed dashboards in grafana/*.ts.
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import * as boards from '../../grafana/index.ts'
import { dashboardOf } from '../../grafana/parts/board.ts'
import { ROOT, type Files, type Generator } from './generator.ts'

const FOLDER = 'grafana/dashboards'

/** Formatted as the repository is, so that the linter has nothing to say. */
async function files(): Promise<Files> {
  const made = Object.values(boards).map(async (board) => {
    const path = `${FOLDER}/${board.name}.json`
    const filepath = join(ROOT, path)
    const text = await format(JSON.stringify(dashboardOf(board)), { ...(await resolveConfig(filepath)), filepath })
    return [path, text] as const
  })
  return new Map(await Promise.all(made))
}

export const grafana: Generator = { files, owns: { folder: FOLDER, ending: '.json' } }
