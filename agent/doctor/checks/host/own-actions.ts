// Lists the configured actions with the incidents that they are for, so that nobody is surprised, and warns of programs that cannot be started.
import type { Action } from '../../../model/action.ts'
import { defineCheck, type Finding } from '../../definition.ts'
import { skipped } from '../../parts/nvidia-pci.ts'

/** `gpu_lost or row_remap_failure, container chat-*`. */
const incidentsText = (match: Action['match']): string =>
  Object.entries(match)
    .map(([label, values]) => `${label === 'kind' ? '' : `${label} `}${values.join(' or ')}`)
    .join(', ')

export const ownActions = defineCheck({
  id: 'own-actions',
  group: 'warpwatch',
  title: 'configured actions can be run',
  covers: [],
  async run({ files, config: { actions } }) {
    if (actions.length === 0) return skipped('no actions are configured: the agent changes nothing')
    const findings: Finding[] = []
    for (const { name, match, command, signal, dryRun } of actions) {
      const [program] = command
      const facts = program === undefined ? undefined : await files.stat(program)
      const isMissing = program !== undefined && (facts === undefined || (facts.mode & 0o111) === 0)
      findings.push({
        status: isMissing ? 'warn' : 'pass',
        subject: name,
        summary: `on ${incidentsText(match)}: ${dryRun ? 'dry run of ' : ''}${signal === undefined ? command.join(' ') : `${signal} to the job`}${isMissing ? `: ${program} is not there, or is not executable` : ''}`,
        ...(isMissing
          ? { remedies: [{ text: `Install ${program}, make it executable, or correct actions in the configuration.`, command: `ls -l ${program}` }] }
          : { notice: true }),
      })
    }
    return findings
  },
})
