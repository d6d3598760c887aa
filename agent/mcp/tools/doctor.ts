// Checks the set-up of the host, and how to mend what is wrong.
import { inLine, quoted } from '../answer.ts'
import { doctor as schema } from '../rows.ts'
import { tool } from '../tool.ts'

export const doctor = tool({
  name: 'doctor',
  title: 'Check the host',
  description: 'Checks driver, container toolkit, engine, containers and this agent itself: what fails or warns, with the steps that mend it. Changes nothing.',
  input: {},
  hint: 'More with the command warpwatch doctor on the host.',
  async run(_input, ask) {
    const parsed = schema.safeParse(await ask('/api/v1/doctor'))
    if (!parsed.success) throw new Error('the agent answered in a form that this version does not know')
    const { counts, checks } = parsed.data
    const bad = (status: string) => checks.filter((check) => check.status === status)
    return [
      `${counts['fail'] ?? 0} fail, ${counts['warn'] ?? 0} warn, ${counts['pass'] ?? 0} pass, ${counts['skipped'] ?? 0} could not be checked.`,
      ...[...bad('fail'), ...bad('warn')].flatMap(({ id, findings }) =>
        findings
          .filter(({ status }) => status === 'fail' || status === 'warn')
          .flatMap(({ status, subject, summary, remedies = [] }) => [
            `${status} ${id}${subject === undefined ? '' : ` (${inLine(subject, 80)})`}: ${inLine(summary, 300)}`,
            ...remedies.map(({ text, command }) => `  Remedy: ${inLine(text, 300)}${command === undefined ? '' : ` Command: ${quoted(command)}`}`),
          ]),
      ),
    ]
  },
})
