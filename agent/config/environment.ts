// The environment: WARPWATCH_<SECTION>__<KEY>, and WARPWATCH_<KEY> for the keys outside sections.
import { firstLineOf } from '../text/error.ts'
import { DETECTORS } from './detector-settings.ts'
import type { Problem } from './problem.ts'
import { KEYS } from './schema.ts'
import { unknownKey, type Setting } from './setting.ts'

const PREFIX = 'WARPWATCH_'
/** Kubernetes sets these for a service that is called `warpwatch`; they are not ours. */
const SERVICE_LINK = /^WARPWATCH_(SERVICE_(HOST|PORT)(_[A-Z0-9_]+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/

export function variableOf(path: string): string {
  return `${PREFIX}${path.replace('.', '__').toUpperCase()}`
}

/** WARPWATCH_DETECTORS__MEMORY_LEAK__ENABLED is `detectors.memory-leak.enabled`: names of detectors have dashes. */
function pathOf(variable: string): string {
  const path = variable.slice(PREFIX.length).toLowerCase()
  if (!path.startsWith(`${DETECTORS}__`)) return path.replace('__', '.')
  const [section = '', id = '', ...option] = path.split('__')
  return [section, id.replaceAll('_', '-'), ...option].join('.')
}

/** Loads the YAML parser only where a value is neither text nor of a plain form. */
async function scalar(text: string): Promise<unknown> {
  if (text === 'true') return true
  if (text === 'false') return false
  if (/^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(text)) return Number(text)
  const { parse } = await import('yaml')
  // Without its pictures of each error, which cost more than the parsing.
  return parse(text, { prettyErrors: false }) as unknown
}

async function parsed(path: string, text: string): Promise<unknown> {
  const kind = KEYS.get(path)?.field.kind
  if (kind === 'text' || kind === 'choice') return text
  if (kind !== 'list') return scalar(text)
  if (text.trim() === '') return []
  const value = text.trimStart().startsWith('[') ? await scalar(text) : text
  return typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value
}

export async function environmentSettings(
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly settings: readonly Setting[]; readonly problems: readonly Problem[] }> {
  const settings: Setting[] = []
  const problems: Problem[] = []
  for (const name of Object.keys(env).sort()) {
    const text = env[name]
    if (text === undefined || !name.startsWith(PREFIX) || SERVICE_LINK.test(name)) continue
    const path = pathOf(name)
    if (!KEYS.has(path) && !path.startsWith(`${DETECTORS}.`)) {
      const { text: problem } = unknownKey(path, name)
      problems.push({ where: name, text: problem.replace(/is (\S+)$/, (_, key: string) => `is ${KEYS.has(key) ? variableOf(key) : `in section ${key}`}`) })
      continue
    }
    try {
      settings.push({ path, value: await parsed(path, text), where: name })
    } catch (error) {
      problems.push({ where: name, text: `${path}: not valid as a YAML value: ${firstLineOf(error)}` })
    }
  }
  return { settings, problems }
}
