// In which order Vitest begins the files: long ones, integration tests, slow units and the others take turns, so that tests that wait run beside tests that compute, and none is alone at the end.
import { readFileSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** In a file that takes most of a minute or more, with about how long that is; the longest are begun first. */
const LONG = /^\/\/ Long: about (\d+) s\.$/m
/** The part of the run over which the files of each sort are begun. A rarer sort has the longer files, so it is through before the others; the long ones mostly wait, so they are spread likewise. */
const SHARES = { long: 0.7, integration: 0.7, slow: 0.7, unit: 1 } as const

const sortOf = (moduleId: string): keyof typeof SHARES =>
  moduleId.includes('/test/integration/') ? 'integration' : /\.slow\.test\.ts$|\/test\/(?:suites|property)\//.test(moduleId) ? 'slow' : 'unit'

export class Mixed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = (await super.sort(files)).map((file) => {
      const seconds = Number(LONG.exec(readFileSync(file.moduleId, 'utf8'))?.[1] ?? 0)
      return { file, seconds, sort: seconds > 0 ? 'long' : sortOf(file.moduleId) } as const
    })
    const bySort = Map.groupBy(
      sorted.toSorted((a, b) => b.seconds - a.seconds),
      ({ sort }) => sort,
    )
    // Each file at its share of its sort: of 50 files beside 300, one after every four.
    return [...bySort]
      .flatMap(([sort, own]) => own.map(({ file }, i) => ({ file, at: (i * SHARES[sort]) / own.length })))
      .sort((a, b) => a.at - b.at)
      .map(({ file }) => file)
  }
}
