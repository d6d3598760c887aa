// Writes grafana/dashboards from the files beside it: `node scripts/grafana.ts`. A test fails when a committed file is not this one.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import * as boards from '../grafana/index.ts'
import { dashboardOf } from '../grafana/parts/board.ts'

export const FOLDER = join(import.meta.dirname, '../grafana/dashboards')

/** The text of each file, by its name; formatted as the repository is, so that the linter has nothing to say. */
export async function grafanaFiles(): Promise<ReadonlyMap<string, string>> {
  const files = Object.values(boards).map(async (board) => {
    const path = join(FOLDER, `${board.name}.json`)
    const text = await format(JSON.stringify(dashboardOf(board)), { ...(await resolveConfig(path)), filepath: path })
    return [`${board.name}.json`, text] as const
  })
  return new Map(await Promise.all(files))
}

if (import.meta.main) {
  mkdirSync(FOLDER, { recursive: true })
  for (const [name, text] of await grafanaFiles()) writeFileSync(join(FOLDER, name), text)
}
