// Judges what the configuration says of the notifiers, against the types that there are.
import { commonOptions } from '../../../alerts/notifiers/common.ts'
import { shownHost } from '../../lib/shown-url.ts'
import type { NotifierDefinition } from '../../../alerts/notifiers/definition.ts'
import * as registry from '../../../alerts/notifiers/index.ts'
import type { Fields, PartProblem } from '../../config/field.ts'
import { isGroup, readGroup } from '../../config/groups.ts'
import type { Judged } from '../../config/load.ts'
import { HIDDEN } from '../../config/print.ts'
import type { Problem } from '../../config/problem.ts'
import { isReference, lookUp, type Sources } from '../../config/references.ts'
import { partName, type Setting } from '../../config/setting.ts'
import { nearest } from '../../lib/nearest.ts'
import type { NotifierConfig } from '../../model/alert-settings.ts'

const NOTIFIERS = 'notifiers'
/** Each has a sender and a place in the outbox of its own. */
const MAX_NOTIFIERS = 32

/** In the order of their types: the order of a module's exports depends on who loads it. */
export const NOTIFIER_LIST: readonly NotifierDefinition[] = Object.values<NotifierDefinition>(registry).sort((a, b) => (a.type < b.type ? -1 : 1))
const TYPES = NOTIFIER_LIST.map(({ type }) => type)

type Read = { readonly config?: NotifierConfig; readonly problems: readonly PartProblem[]; readonly warnings: readonly PartProblem[] }
const wrong = (path: PartProblem['path'], text: string): Read => ({ problems: [{ path, text }], warnings: [] })

/** A notifier's texts with what they refer to in their places. */
function lookedUp(group: Readonly<Record<string, unknown>>, fields: Fields, sources: Sources) {
  const [problems, warnings]: [PartProblem[], PartProblem[]] = [[], []]
  const referred: Record<string, Fields[string]> = {}
  const text = (value: unknown, path: PartProblem['path'], { secret }: Fields[string]): unknown => {
    if (!isReference(value)) return value
    const found = lookUp(value, sources)
    if ('problem' in found) problems.push({ path, text: found.problem })
    else if (found.warning !== undefined && secret) warnings.push({ path, text: found.warning })
    return 'value' in found ? found.value : undefined
  }
  const values = Object.entries(group).map(([name, value]): readonly [string, unknown] => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined || field.read !== undefined) return [name, value]
    if (field.kind === 'text' && isReference(value)) {
      // Wherever it came from it is nobody's business, in problems too.
      referred[name] = { ...field, secret: true }
      return [name, text(value, [name], field)]
    }
    if (field.kind !== 'parts' || !isGroup(value)) return [name, value]
    return [name, Object.fromEntries(Object.entries(value).map(([part, inner]) => [part, text(inner, [name, part], field)]))]
  })
  return { values: Object.fromEntries(values), fields: { ...fields, ...referred }, problems, warnings }
}

/** What was set, as it may be printed; references stay what they are, so that most of it can be read back. */
function shownOptions(group: Readonly<Record<string, unknown>>, fields: Fields): NotifierConfig['shown'] {
  const shown = (value: unknown, field: Fields[string] | undefined): unknown => {
    if (isReference(value)) return value
    if (isGroup(value)) return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shown(part, field)]))
    if (field === undefined || field.secret) return typeof value === 'string' ? shownHost(value) : HIDDEN
    return value
  }
  return Object.fromEntries(Object.entries(group).map(([name, value]) => [name, shown(value, fields[name])]))
}

async function readNotifier(item: unknown, sources: Sources): Promise<Read> {
  if (!isGroup(item)) return wrong([], 'must be a group of keys with name, type and the options of the type, not another value (hidden)')
  const { type } = item
  if (type === undefined || type === null) return wrong(['type'], `missing: give one of ${TYPES.join(', ')}`)
  const definition = NOTIFIER_LIST.find((known) => known.type === type)
  if (definition === undefined) {
    const came = typeof type === 'string' || typeof type === 'number' ? String(type) : ''
    return wrong(['type'], `unknown type ${JSON.stringify(came)}; the nearest valid one is ${nearest(came, TYPES) ?? ''}`)
  }
  const declared: Fields = { ...commonOptions, ...definition.options }
  const { values, fields, ...found } = lookedUp(item, declared, sources)
  if (found.problems.length > 0) return found
  const read = readGroup(values, { fields, required: ['name', 'type', ...definition.required] })
  if ('problems' in read) return { ...found, problems: read.problems }
  await definition.load?.()
  const checked = definition.check?.(read.values) ?? []
  if (checked.length > 0) return { ...found, problems: checked.map(({ option, text }) => ({ path: [option], text })) }
  return {
    ...found,
    config: {
      name: String(values['name']),
      type: definition.type,
      options: read.values,
      shown: shownOptions(item, declared),
      ...(definition.takesRuns === false ? { takesRuns: false } : {}),
    },
  }
}

/** Every notifier that is as it should be; what is wrong with the others, each with its place. */
export async function judgeNotifiers(settings: readonly Setting[], sources: Sources): Promise<Judged<readonly NotifierConfig[]>> {
  const setting = settings.at(-1)
  if (setting === undefined || setting.value === null) return { value: [], problems: [] }
  const { value, where, at = () => where } = setting
  if (!Array.isArray(value) || value.length > MAX_NOTIFIERS) {
    const came = Array.isArray(value) ? value.length : 'something else (hidden)'
    return { value: [], problems: [{ where, text: `${NOTIFIERS}: must be a list of notifiers, at most ${MAX_NOTIFIERS}, not ${came}` }] }
  }
  const [problems, warnings]: [Problem[], Problem[]] = [[], []]
  const notifiers: NotifierConfig[] = []
  for (const [number, item] of value.entries()) {
    const reported = ({ path, text }: PartProblem): Problem => {
      const whole = [number, ...path]
      return { where: at(whole), text: `${partName(NOTIFIERS, whole)}: ${text}` }
    }
    const { config, ...read } = await readNotifier(item, sources)
    problems.push(...read.problems.map(reported))
    warnings.push(...read.warnings.map(reported))
    if (config === undefined) continue
    if (notifiers.some(({ name }) => name === config.name))
      problems.push(reported({ path: ['name'], text: `another notifier is also called ${JSON.stringify(config.name)}; choose another name` }))
    notifiers.push(config)
  }
  return { value: notifiers, problems, warnings }
}
