// Can Compose read the files that were named, and all that they include, extend and need?
import { counted } from '../../../text/grammar.ts'
import { defineCheck } from '../../definition.ts'
import { NO_FILE } from '../../compose/look.ts'
import { problemFinding } from '../../compose/part.ts'
import { composeProject } from '../../compose/project.ts'

export const composeFile = defineCheck({
  id: 'compose-file',
  group: 'compose',
  title: 'Compose takes the files: readable, valid, with all that they include and need',
  covers: [],
  async run(around) {
    const project = await composeProject(around)
    if (project === undefined) return [{ status: 'skipped', summary: NO_FILE }]
    const { files, services, problems, notes } = project
    if (problems.length > 0) return problems.map(problemFinding)
    const count = counted(services.length, 'service')
    const read = files.length === 1 ? `${count} in ${files.join()}` : `${count} in ${files.join(', ')}, merged as docker compose -f … -f … does`
    return [{ status: 'pass', summary: [read, ...notes].join('; ') }]
  },
})
