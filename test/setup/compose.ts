// What docker-compose makes of the compose files: merged, with variables put in and paths from the root of the file system.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import * as z from 'zod'

const COMPOSE = '/usr/bin/docker-compose'
export const composeMissing: string | undefined = existsSync(COMPOSE) ? undefined : 'needs docker-compose (apt-get install docker-compose)'
export const root = join(import.meta.dirname, '../..')
export const MONITORING = join(root, 'docker-compose.monitoring.yml')

const texts = z.array(z.string())
const reservation = z.looseObject({ driver: z.string(), count: z.union([z.string(), z.number()]), capabilities: texts })
const serviceSchema = z.looseObject({
  image: z.string(),
  build: z.optional(z.looseObject({})),
  entrypoint: z.optional(texts),
  command: z.optional(texts),
  environment: z.optional(z.record(z.string(), z.string().nullable())),
  volumes: z.optional(texts),
  ports: z.optional(texts),
  networks: z.optional(z.record(z.string(), z.unknown())),
  network_mode: z.optional(z.string()),
  profiles: z.optional(texts),
  restart: z.optional(z.string()),
  user: z.optional(z.string()),
  pid: z.optional(z.string()),
  read_only: z.optional(z.boolean()),
  tmpfs: z.optional(texts),
  cap_drop: z.optional(texts),
  cap_add: z.optional(texts),
  security_opt: z.optional(texts),
  devices: z.optional(texts),
  healthcheck: z.optional(z.looseObject({ test: texts })),
  deploy: z.optional(
    z.looseObject({
      resources: z.looseObject({
        limits: z.optional(z.looseObject({ memory: z.string() })),
        reservations: z.optional(z.looseObject({ devices: z.array(reservation) })),
      }),
    }),
  ),
})
const projectSchema = z.looseObject({
  services: z.record(z.string(), serviceSchema),
  networks: z.optional(z.record(z.string(), z.unknown())),
  volumes: z.optional(z.record(z.string(), z.unknown())),
})
export type ComposeService = z.infer<typeof serviceSchema>
export type ComposeProject = z.infer<typeof projectSchema>

type Variables = Readonly<Record<string, string>>

/** Nothing of the caller's environment, so that the files' own defaults show. */
export function composeConfig(files: readonly string[], variables: Variables, cwd = root): { readonly project: ComposeProject } | { readonly problem: string } {
  const flags = files.flatMap((file) => ['-f', file])
  const env = { PATH: process.env['PATH'], HOME: '/nonexistent', ...variables }
  const run = spawnSync(COMPOSE, [...flags, 'config'], { cwd, env, encoding: 'utf8' })
  if (run.status !== 0) return { problem: run.stderr }
  return { project: projectSchema.parse(parse(run.stdout)) }
}

/** The same, where it must be valid. */
export function composeProject(files: readonly string[], variables: Variables, cwd?: string): ComposeProject {
  const found = composeConfig(files, variables, cwd)
  if ('problem' in found) throw new Error(`docker-compose config ${files.join(' ')}: ${found.problem}`)
  return found.project
}

export type Mount = { readonly from: string; readonly to: string; readonly readOnly: boolean }

export const mountsOf = (service: ComposeService | undefined): readonly Mount[] =>
  (service?.volumes ?? []).map((volume) => {
    const [from = '', to = '', mode] = volume.split(':')
    return { from, to, readOnly: mode === 'ro' }
  })
