// The commands: one line each, loaded when it is called so that no command pays for another.
import type { Command } from './command.ts'

export const DEFAULT_COMMAND = 'run'

export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  run: async () => (await import('./run.ts')).run,
  alerts: async () => (await import('./alerts.ts')).alerts,
  config: async () => (await import('./config.ts')).config,
  doctor: async () => (await import('./doctor.ts')).doctor,
  explain: async () => (await import('./explain.ts')).explain,
  fit: async () => (await import('./fit.ts')).fit,
  incidents: async () => (await import('./incidents.ts')).incidents,
  replay: async () => (await import('./replay.ts')).replay,
  rules: async () => (await import('./rules.ts')).rules,
  silence: async () => (await import('./silence.ts')).silence,
  snapshot: async () => (await import('./snapshot.ts')).snapshot,
}
