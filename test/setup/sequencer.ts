// In which order Vitest begins the files of a project: by size, as it does by itself on a fresh clone, but those that are named as they are named.
import { BaseSequencer, type TestSequencerConstructor, type TestSpecification } from 'vitest/node'

export function sequencerOf(names: readonly string[]): TestSequencerConstructor {
  const place = ({ moduleId }: TestSpecification): number => {
    const found = names.findIndex((name) => moduleId.endsWith(`/${name}`))
    return found === -1 ? names.length : found
  }
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const byProject = Map.groupBy(await super.sort(files), ({ project }) => project)
      return [...byProject.values()].flatMap((own) => own.sort((a, b) => place(a) - place(b)))
    }
  }
}
