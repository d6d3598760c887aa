// In which order Vitest begins the files: integration tests, slow units and the others take turns, so that tests that wait run beside tests that compute, and what says that it is long comes first.
import { readFileSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** In a file that takes a minute or more: begun late, it would be alone at the end of the run. */
const LONG = '// Long: begun among the first.'
const sortOf = ({ moduleId }: TestSpecification): string =>
  moduleId.includes('/test/integration/') ? 'integration' : /\.slow\.test\.ts$|\/test\/(?:suites|property)\//.test(moduleId) ? 'slow' : 'unit'
const isLong = ({ moduleId }: TestSpecification): boolean => readFileSync(moduleId, 'utf8').includes(LONG)

export class Mixed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const longFirst = [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
    const bySort = [...Map.groupBy(longFirst, sortOf).values()]
    // Each file at its share of its sort: of 50 files beside 300, one after every four. The rarer sorts have the longer files, so they are through before the other.
    const most = Math.max(...bySort.map((own) => own.length))
    return bySort
      .flatMap((own) => own.map((file, i) => ({ file, at: i * (own.length === most ? 1 / own.length : 0.7 / own.length) })))
      .sort((a, b) => a.at - b.at)
      .map(({ file }) => file)
  }
}
