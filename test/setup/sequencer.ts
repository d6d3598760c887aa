// In which order Vitest begins the files: long ones, integration tests, slow units and the others take turns, so that tests that wait run beside tests that compute, and none is alone at the end.
import { readFileSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** In a file that takes a minute or more: begun late, it would be alone at the end of the run. */
const LONG = '// Long: begun early.'
/** The part of the run over which the files of each sort are begun. A rarer sort has the longer files, so it is through before the others; the long ones mostly wait, so they are spread likewise. */
const SHARES = { long: 0.7, integration: 0.7, slow: 0.7, unit: 1 } as const

function sortOf({ moduleId }: TestSpecification): keyof typeof SHARES {
  if (readFileSync(moduleId, 'utf8').includes(LONG)) return 'long'
  if (moduleId.includes('/test/integration/')) return 'integration'
  return /\.slow\.test\.ts$|\/test\/(?:suites|property)\//.test(moduleId) ? 'slow' : 'unit'
}

export class Mixed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const bySort = Map.groupBy(await super.sort(files), sortOf)
    // Each file at its share of its sort: of 50 files beside 300, one after every four.
    return [...bySort]
      .flatMap(([sort, own]) => own.map((file, i) => ({ file, at: (i * SHARES[sort]) / own.length })))
      .sort((a, b) => a.at - b.at)
      .map(({ file }) => file)
  }
}
