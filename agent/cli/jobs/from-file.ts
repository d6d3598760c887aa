// The jobs out of the files of the data directory, for `warpwatch jobs` where no agent runs.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { groupsWithCost } from '../../jobs/ledger/costs.ts'
import { heldOf, MOST_WASTE_JOBS, wasteOf } from '../../jobs/ledger/waste.ts'
import { JOBS_FILE, openJobFile } from '../../store/jobs/file.ts'
import { openLedgerFile } from '../../store/ledger/file.ts'
import { groupsWithUse } from '../../store/ledger/groups.ts'
import { LEDGER_FILE } from '../../store/ledger/schema.ts'
import { messageOf } from '../../text/error.ts'
import { UsageError } from '../command.ts'
import type { JobReader } from './from.ts'

const MAX_RUNS = 100

export function overFile({ data_dir: directory, costs, host_name: host }: Config): JobReader {
  const spanTo = (since: number) => ({ host, from: since, to: Date.now() })
  const path = join(directory, JOBS_FILE)
  if (!existsSync(path))
    return {
      from: `${path}, which does not exist; no agent runs`,
      list: async () => [],
      groups: async () => [],
      runs: async () => [],
      waste: async (since) => ({ ...spanTo(since), rows: [] }),
      progress: async () => [],
      close: () => {},
    }
  try {
    const file = openJobFile(directory)
    const ledger = existsSync(join(directory, LEDGER_FILE)) ? openLedgerFile(directory) : undefined
    return {
      from: `${path} (no agent runs)`,
      list: async (filter) => file.list(filter),
      groups: async (by, filter) =>
        groupsWithCost(groupsWithUse(by, file.groups(by, filter), ledger?.sums(by, filter.since ?? 0, Number.MAX_SAFE_INTEGER) ?? []), costs),
      runs: async (job) => file.runs(job, MAX_RUNS),
      async waste(since, by) {
        const span = spanTo(since)
        return wasteOf((ledger?.held(since, span.to, by) ?? []).map(heldOf), file.list({ since, limit: MOST_WASTE_JOBS }), costs, span, by)
      },
      progress: async () => [],
      close() {
        file.close()
        ledger?.close()
      },
    }
  } catch (error) {
    throw new UsageError(`jobs: ${path}: the jobs cannot be read: ${messageOf(error)}`, { cause: error })
  }
}
