// One service of a compose project as the checks read it: its image, what its program finds in its environment, and where all that is written.
import type { HostFiles } from '../parts/host-files.ts'
import { byName } from './merge.ts'
import { at, entriesOf, textOf, type Part, type Place, type Problem } from './part.ts'
import { baseOf, pickFamily, type ImageFamily } from './images.ts'
import { parseEnvFile, type Variables } from './variables.ts'

export type EnvValue = Place & {
  /** undefined: it depends on a variable that is not set here. */
  readonly value?: string
  /** What is in the compose file itself, defaults of variables too; undefined: it is in an env_file, or comes from outside. */
  readonly literal?: string
}
export type ComposeService = Place & {
  readonly name: string
  readonly part: Part
  readonly image?: string
  /** What its image, or the one that it is built from, is known for. */
  readonly family?: ImageFamily
  readonly env: ReadonlyMap<string, EnvValue>
  /** Entrypoint and command as one text. */
  readonly command: string
}
type Reading = { readonly files: HostFiles; readonly variables: Variables; readonly report: (problem: Problem) => void }

/** With gaps where variables are not set here: for what is written beside them. */
const wordsOf = (part: Part | undefined): readonly string[] =>
  (part?.kind === 'list' ? part.items : part === undefined ? [] : [part]).map((item) =>
    item.kind === 'scalar' && item.value !== null ? String(item.value) : '',
  )

const MAX_BYTES = 256 * 1024

async function fromFile(part: Part, { files, report }: Reading): Promise<readonly (readonly [string, EnvValue])[]> {
  const path = textOf(part) ?? textOf(at(part, 'path'))
  if (path === undefined) return []
  const { file, line } = part
  const text = await files.readText(path, MAX_BYTES).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
  if (text instanceof Error) {
    report({ status: 'warn', file, line, message: `env_file: ${text.message}`, remedy: `See that whoever runs Compose can read it: ls -l ${path}` })
    return []
  }
  if (text === undefined) {
    if (textOf(at(part, 'required')) !== 'false') {
      report({
        status: 'fail',
        file,
        line,
        message: `env_file: expected the file ${path}, found none: Compose refuses to start`,
        remedy: 'Make the file, correct its path, or say that it may be missing: env_file: [{path: FILE, required: false}].',
      })
    }
    return []
  }
  // Compose puts variables in there too; what holds one is not known here.
  return Object.entries(parseEnvFile(text)).map(([name, value]) => [name, { file, line, ...(value === undefined || value.includes('$') ? {} : { value }) }])
}

function fromEnvironment(part: Part | undefined, variables: Variables): readonly (readonly [string, EnvValue])[] {
  return [...entriesOf(part === undefined ? undefined : byName(part))].map(([name, own]) => {
    const { file, line } = own
    if (own.kind !== 'scalar') return [name, { file, line }]
    // A name alone takes what is set outside.
    const value = own.value === null ? variables[name] : textOf(own)
    return [name, { file, line, ...(value === undefined ? {} : { value }), ...(own.literal === null ? {} : { literal: String(own.literal) }) }]
  })
}

export async function serviceOf(name: string, part: Part, reading: Reading): Promise<ComposeService> {
  const { files, report } = reading
  const own = at(part, 'env_file')
  const envFiles = own === undefined ? [] : own.kind === 'list' ? own.items : [own]
  const found = await Promise.all(envFiles.map(async (one) => await fromFile(one, reading)))
  const image = textOf(at(part, 'image'))
  const build = at(part, 'build')
  const has = (key: string): boolean => at(part, key) !== undefined
  if (part.kind === 'map' && !['image', 'build', 'provider', 'extends'].some(has)) {
    report({
      status: 'fail',
      file: part.file,
      line: part.line,
      message: `the service ${name} has neither an image nor a build: Compose refuses the project`,
      remedy:
        'Name its image (image: NAME:TAG) or a folder with a Dockerfile (build: .); a file that only adds to another is named after it: --compose BASE ADDITION.',
    })
  }
  const base = build === undefined ? undefined : await baseOf(build, files)
  const family = pickFamily(base) ?? pickFamily(image)
  return {
    name,
    part,
    file: part.file,
    line: part.line,
    ...(image === undefined ? {} : { image }),
    ...(family === undefined ? {} : { family }),
    env: new Map([...found.flat(), ...fromEnvironment(at(part, 'environment'), reading.variables)]),
    command: [...wordsOf(at(part, 'entrypoint')), ...wordsOf(at(part, 'command'))].join(' '),
  }
}
