// The doctor for the API: one run at a time, its report kept for ten seconds, so that readers cannot keep the host busy.
import type { Config } from '../config/schema.ts'
import type { DoctorReport } from '../model/doctor.ts'
import * as registry from './checks/index.ts'
import type { CheckDefinition } from './definition.ts'
import { runChecks } from './runner.ts'
import { lookAround } from './surroundings.ts'

const KEPT_MS = 10_000

export function createDoctor(config: Config, env: Readonly<Record<string, string | undefined>> = process.env, now: () => number = () => performance.now()) {
  // Only the command line names compose files.
  const checks = Object.values<CheckDefinition>(registry).filter(({ group }) => group !== 'compose')
  let running: Promise<DoctorReport> | undefined
  let kept: { readonly report: DoctorReport; readonly at: number } | undefined

  const run = async (): Promise<DoctorReport> => {
    const around = lookAround({ config, env, cwd: '/', composeFiles: [] })
    try {
      const report = await runChecks({ checks, around, host: config.host_name })
      kept = { report, at: now() }
      return report
    } finally {
      around.close()
      running = undefined
    }
  }
  return async (): Promise<DoctorReport> => {
    if (kept !== undefined && now() - kept.at < KEPT_MS) return kept.report
    running ??= run()
    return await running
  }
}
