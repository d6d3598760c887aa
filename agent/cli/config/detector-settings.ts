// Judges what the configuration says of the detectors, against the detectors that there are: run, config and replay do it alike.
import { CUSTOM, DETECTORS } from '../../config/detector-settings.ts'
import { describeValue, type Problem } from '../../config/problem.ts'
import type { Judged } from '../../config/load.ts'
import { partName, type Setting } from '../../config/setting.ts'
import type { DetectorDefinition } from '../../diagnosis/detectors/definition.ts'
import * as registry from '../../diagnosis/detectors/index.ts'
import { nearest } from '../../lib/nearest.ts'
import type { CustomThreshold, DetectorsConfig } from '../../model/detector-settings.ts'
import { readThresholds } from './custom-thresholds.ts'

/** In the order of their ids: the order of a module's exports depends on who loads it. */
export const DETECTOR_LIST: readonly DetectorDefinition[] = Object.values<DetectorDefinition>(registry).sort((a, b) => (a.id < b.id ? -1 : 1))
const BY_ID = new Map(DETECTOR_LIST.map((definition) => [definition.id, definition]))

type Values = { enabled: boolean; readonly options: Record<string, number> }

function unknownOption(path: string, where: string, candidates: readonly string[]): Problem {
  return { where, text: `unknown key ${path}; the nearest valid one is ${nearest(path, candidates) ?? DETECTORS}` }
}

/** The value of one option, or the problem with it. */
function judgeOption({ path, value, where }: Setting, definition: DetectorDefinition, option: string, into: Values): Problem | undefined {
  if (option === 'enabled') {
    if (typeof value !== 'boolean') return { where, text: `${path}: must be true or false, not ${describeValue(value)}` }
    into.enabled = value
    return undefined
  }
  const def = Object.hasOwn(definition.options, option) ? definition.options[option] : undefined
  if (def === undefined)
    return unknownOption(
      path,
      where,
      ['enabled', ...Object.keys(definition.options)].map((name) => `${DETECTORS}.${definition.id}.${name}`),
    )
  if (typeof value !== 'number' || !(value >= def.min && value <= def.max))
    return { where, text: `${path}: must be a number from ${def.min} to ${def.max}, not ${describeValue(value)}` }
  into.options[option] = value
  return undefined
}

/** Every detector with every option; what is wrong with what was set, each with its place. */
export function judgeDetectors(settings: readonly Setting[]): Judged<DetectorsConfig> {
  const problems: Problem[] = []
  const values = new Map(
    DETECTOR_LIST.map(({ id, options }): readonly [string, Values] => [
      id,
      { enabled: true, options: Object.fromEntries(Object.entries(options).map(([name, def]) => [name, def.default])) },
    ]),
  )
  let custom: readonly CustomThreshold[] = []
  for (const setting of settings) {
    const { path, value, where, at = () => where } = setting
    const [, id, option, ...deeper] = path.split('.')
    const [definition, into] = [BY_ID.get(id ?? ''), values.get(id ?? '')]
    if (id === undefined) problems.push({ where, text: `${path}: must have keys below it, not ${describeValue(value)}` })
    else if (id === CUSTOM && option === undefined) {
      const found = readThresholds(value)
      if ('value' in found) custom = found.value
      else problems.push(...found.problems.map((problem) => ({ where: at(problem.path), text: `${partName(path, problem.path)}: ${problem.text}` })))
    } else if (definition === undefined || into === undefined) {
      if (!problems.some((known) => known.where === where))
        problems.push(
          unknownOption(
            `${DETECTORS}.${id}`,
            where,
            [...BY_ID.keys(), CUSTOM].map((name) => `${DETECTORS}.${name}`),
          ),
        )
    } else if (option === undefined) {
      // A detector whose options are all commented out.
      if (value !== null) problems.push({ where, text: `${path}: must have keys below it, not ${describeValue(value)}` })
    } else {
      const problem = judgeOption(setting, definition, [option, ...deeper].join('.'), into)
      if (problem !== undefined) problems.push(problem)
    }
  }
  return { value: { settings: Object.fromEntries(values), custom }, problems }
}
