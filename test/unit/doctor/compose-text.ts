// Compose files for the cases of the doctor's checks: written where they are used, as a scene that holds them.
import type { Scene } from './scene.ts'

/** Without the indentation that it has in the source of a test. */
export function dedent(text: string): string {
  const lines = text
    .replace(/^\n/, '')
    .replace(/\n\s*$/, '\n')
    .split('\n')
  const indent = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length))
  return lines.map((line) => line.slice(indent)).join('\n')
}
/** A host with /srv/compose.yml; `own`: what else it has. */
export const written = (text: string, own: Scene = {}): Scene => ({ ...own, compose: { '/srv/compose.yml': dedent(text), ...own.compose } })

/** A service that asks for GPUs, with more lines below it. */
export const asking = (device: string, more = ''): string =>
  `services: {train: {image: my/train, deploy: {resources: {reservations: {devices: [{${device}}]}}}${more === '' ? '' : `, ${more}`}}}\n`
