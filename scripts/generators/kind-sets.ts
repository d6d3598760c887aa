// Makes dashboard/src/parts/incident/kind-sets.ts: what the page needs of the kinds' declarations, without carrying all of them into its first load.
import { INCIDENT_KINDS, kindOf } from '../../agent/model/kinds.ts'
import type { KindShape } from '../../agent/model/kinds/kind.ts'
import type { Generator } from './generator.ts'

const LINE = 160

function set(name: string, comment: string, wanted: (shape: KindShape) => boolean): string {
  const kinds = INCIDENT_KINDS.filter((kind) => wanted(kindOf(kind)))
  const one = `export const ${name}: ReadonlySet<IncidentKind> = new Set<IncidentKind>([${kinds.map((kind) => `'${kind}'`).join(', ')}])`
  // As the formatter wants it.
  const wrapped = one.length <= LINE ? one : one.replace('[', '[\n  ').replaceAll(', ', ',\n  ').replace(/\]\)$/, ',\n])')
  return `/** ${comment} */\n${wrapped}\n`
}

const dashboardKinds = (): string =>
  [
    '// Generated from agent/model/kinds by npm run generate, do not edit: the kinds that some views treat differently.',
    "import type { IncidentKind } from '../../../../agent/model/kinds.ts'",
    '',
    set('GPU_UNREADABLE', 'It says that the GPU, or what is read of it, does not answer.', ({ gpuState }) => gpuState === 'unreadable'),
    set('GPU_SLOWED', 'It says that the GPU is held below its speed.', ({ gpuState }) => gpuState === 'slowed'),
    set('ABOUT_PROCESS_MEMORY', 'It is about the GPU memory of one process.', ({ aboutProcessMemory }) => aboutProcessMemory === true),
  ].join('\n')

export const kindSets: Generator = { files: () => new Map([['dashboard/src/parts/incident/kind-sets.ts', dashboardKinds()]]) }
