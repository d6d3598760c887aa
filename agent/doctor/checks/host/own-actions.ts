// What Warpwatch is set to do by itself when an incident fires: listed, so that nobody is surprised, with programs that could not be started.
import { defineCheck, type Finding } from '../../definition.ts'
import { skipped } from '../../parts/nvidia-pci.ts'

export const ownActions = defineCheck({
  id: 'own-actions',
  group: 'warpwatch',
  title: 'what the agent is set to do by itself is known, and can be done',
  covers: [],
  async run({ files, config: { actions } }) {
    if (actions.length === 0) return skipped('no actions are configured: the agent changes nothing')
    const findings: Finding[] = []
    for (const { name, command, signal, dryRun } of actions) {
      const [program] = command
      const facts = program === undefined ? undefined : await files.stat(program)
      const isMissing = program !== undefined && (facts === undefined || (facts.mode & 0o111) === 0)
      findings.push({
        status: isMissing ? 'warn' : 'pass',
        subject: name,
        summary: `${dryRun ? 'dry run: ' : ''}${signal === undefined ? command.join(' ') : `${signal} to the job`}${isMissing ? `: ${program} is not there, or is not executable` : ''}`,
        ...(isMissing
          ? { remedies: [{ text: `Install ${program}, make it executable, or correct actions in the configuration.`, command: `ls -l ${program}` }] }
          : {}),
      })
    }
    return findings
  },
})
