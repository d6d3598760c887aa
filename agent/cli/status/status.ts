// `warpwatch status`: is all well on this host, what fires, is the agent well. Exit code 1 where something is not.
import type { Command } from '../command.ts'
import { CONFIG_FLAG, isLoaded, problemLines, settingsFor } from '../config/settings.ts'
import { isColoured, painter } from '../paint.ts'
import { plain } from '../plain.ts'
import { lookAt } from './look.ts'
import { problemsOf, statusPage } from './page.ts'

export const status: Command = {
  name: 'status',
  summary: 'one screen: GPUs, firing incidents, the agent itself; exit code 1 when something is wrong',
  positionals: [],
  flags: {
    ...CONFIG_FLAG,
    listen: { kind: 'value', value: 'ADDRESS:PORT', help: 'where the agent listens (default: 127.0.0.1:9839)' },
    json: { kind: 'switch', help: 'print JSON' },
  },
  async run({ flags, positionals }, io) {
    const loaded = await settingsFor({ flags, positionals }, io)
    if (!isLoaded(loaded)) {
      io.err(problemLines(loaded))
      return 2
    }
    const look = await lookAt(loaded.config)
    const asJson = flags.has('json')
    if ('problem' in look) {
      if (asJson) io.out(`${JSON.stringify({ ok: false, problems: [look.problem] })}\n`)
      else io.out(plain(`${loaded.config.host_name}: the agent does not answer\n\n  ${look.problem}\n`))
      return 1
    }
    const problems = problemsOf(look)
    if (asJson) {
      const { host, url, gpus, running, firing, notifiers, notReady, sampleAgeMs } = look
      const incidents = firing.map(({ id, kind, severity, title, started_at }) => ({ id, kind, severity, title, started_at }))
      const agent = { url, ready: notReady === undefined, reason: notReady, newest_sample_age_ms: sampleAgeMs }
      io.out(
        `${JSON.stringify({ ok: problems.length === 0, problems, host, agent, gpus: gpus.length, jobs_running: running, firing: incidents, notifiers })}\n`,
      )
    } else io.out(statusPage(look, Date.now(), painter(isColoured(io.env)), io.columns))
    return problems.length === 0 ? 0 : 1
  },
}
