// The walk of a check over the services of the named compose files, and how it says what to write where.
import type { Finding, Surroundings } from '../definition.ts'
import type { Remedy } from '../../model/fault.ts'
import { composeProject, type ComposeProject } from './project.ts'
import { at, placeText, subjectOf, type Place } from './part.ts'
import type { ComposeService } from './service.ts'

export const NO_FILE = 'no compose file was named: warpwatch doctor --compose FILE… reads those that you name'

export const noService = ({ files }: ComposeProject): string => `no service can be read in ${files.join(', ')}`

/** `none`: what is said where no service has anything to do with the check. */
export async function eachProject(around: Surroundings, none: string, judge: (project: ComposeProject) => readonly Finding[]): Promise<readonly Finding[]> {
  const project = await composeProject(around)
  if (project === undefined) return [{ status: 'skipped', summary: NO_FILE }]
  if (project.services.length === 0) return [{ status: 'skipped', summary: noService(project) }]
  const found = judge(project)
  return found.length > 0 ? found : [{ status: 'skipped', summary: none }]
}
export const eachService = async (
  around: Surroundings,
  none: string,
  judge: (service: ComposeService, project: ComposeProject) => readonly Finding[],
): Promise<readonly Finding[]> => await eachProject(around, none, (project) => project.services.flatMap((service) => judge(service, project)))

const quoted = (path: string): string => (/^[\w./+@-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`)
export const upCommand = ({ files }: ComposeProject, service: string): string =>
  `docker compose ${files.map((file) => `-f ${quoted(file)}`).join(' ')} up -d ${service}`

/**
 * `yaml` is exactly what to write. Where the service has that key already it is changed, as a key may be only once; `instead`: an item of
 * it in whose place it comes.
 */
export function write(service: ComposeService, project: ComposeProject, why: string, yaml: string, instead?: Place): Remedy {
  const key = yaml.slice(0, yaml.indexOf(':'))
  const own = at(service.part, key)
  const where =
    own === undefined
      ? `In ${placeText(service)}, below \`${service.name}:\` write what follows`
      : instead === undefined
        ? `In ${placeText(own)} change \`${key}:\` of \`${service.name}\` so that it has what follows`
        : `In ${placeText(instead)}, below \`${key}:\` of \`${service.name}\`, exchange that line for this one`
  return { text: `${why} ${where}; then ${upCommand(project, service.name)}`, command: yaml }
}
/** A variable of the container, in the form in which the service has its others; no value: it comes from outside. */
export function writeEnv(service: ComposeService, project: ComposeProject, why: string, name: string, value?: string): Remedy {
  const written = at(service.part, 'environment')
  const own = service.env.get(name)
  const shown = value !== undefined && /^[\d,]+$/.test(value) ? `"${value}"` : value
  const line = written?.kind === 'list' ? `- ${name}${value === undefined ? '' : `=${value}`}` : `${name}:${shown === undefined ? '' : ` ${shown}`}`
  return write(service, project, why, `environment:\n  ${line}`, own?.literal === undefined ? undefined : own)
}

type Where = Place | undefined
export const passOf = (service: ComposeService, summary: string, where?: Where): Finding => ({
  status: 'pass',
  subject: subjectOf(where ?? service, service.name),
  summary,
})
export const skipOf = (service: ComposeService, summary: string, where?: Where): Finding => ({
  status: 'skipped',
  subject: subjectOf(where ?? service, service.name),
  summary,
})
export const complainOf = (status: 'warn' | 'fail', service: ComposeService, where: Where, summary: string, remedies: readonly Remedy[]): Finding => ({
  status,
  subject: subjectOf(where ?? service, service.name),
  summary,
  remedies,
})
/** A request in the form in which the service has its own; which: `count: 1` or `device_ids: ["0"]`. */
export function reservation({ part }: ComposeService, which: string, capabilities = 'gpu'): string {
  const device = ['- driver: nvidia', `  ${which}`, `  capabilities: [${capabilities}]`]
  const [above, indent] = at(part, 'gpus') === undefined ? [['deploy:', '  resources:', '    reservations:', '      devices:'], 8] : [['gpus:'], 2]
  return [...above, ...device.map((line) => `${' '.repeat(indent)}${line}`)].join('\n')
}
