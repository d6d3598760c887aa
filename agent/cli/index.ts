// The commands: one line each, loaded when it is called so that no command pays for another.
import { near } from '../lib/nearest.ts'
import { UsageError, type Command } from './command.ts'

export const DEFAULT_COMMAND = 'run'

export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  run: async () => (await import('./run/run.ts')).run,
  alerts: async () => (await import('./alerts/alerts.ts')).alerts,
  completion: async () => (await import('./completion/completion.ts')).completion,
  config: async () => (await import('./config/config.ts')).config,
  doctor: async () => (await import('./doctor/doctor.ts')).doctor,
  exec: async () => (await import('./exec/exec.ts')).exec,
  explain: async () => (await import('./explain/explain.ts')).explain,
  fit: async () => (await import('./fit/fit.ts')).fit,
  hang: async () => (await import('./hang/hang.ts')).hang,
  help: async () => (await import('./help/help.ts')).help,
  incidents: async () => (await import('./incidents/incidents.ts')).incidents,
  mcp: async () => (await import('./mcp.ts')).mcp,
  progress: async () => (await import('./progress/progress.ts')).progress,
  jobs: async () => (await import('./jobs/jobs.ts')).jobs,
  replay: async () => (await import('./replay/replay.ts')).replay,
  rules: async () => (await import('./rules.ts')).rules,
  servers: async () => (await import('./servers.ts')).servers,
  silence: async () => (await import('./silence.ts')).silence,
  snapshot: async () => (await import('./snapshot/snapshot.ts')).snapshot,
  status: async () => (await import('./status/status.ts')).status,
  top: async () => (await import('./top/top.ts')).top,
  version: async () => (await import('./version.ts')).version,
}

export async function commandNamed(name: string): Promise<Command> {
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (load !== undefined) return load()
  const meant = near(name, Object.keys(COMMANDS))
  throw new UsageError(`unknown command ${name.slice(0, 60)}.${meant === undefined ? '' : ` Did you mean ${meant}?`} List them: warpwatch help`)
}
