// Scripts of the build, each with what V8 made of it beside it: taking that back costs a tenth of parsing and compiling the text, which were half of the agent's start.
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { constants, Script } from 'node:vm'
import { crc32 } from 'node:zlib'

/** Two sums in front, of the script's text and of what V8 made of it: V8 checks neither, and what is broken would bring the process down. */
const SUMS_BYTES = 8
/** Of one Node on one processor; under other flags V8 itself refuses it. */
const compiledFile = (file: string): string => `${file}.${process.version}-${process.arch}.v8`

function compiledFor(file: string, text: Buffer): Buffer | undefined {
  let found: Buffer
  try {
    found = readFileSync(compiledFile(file))
  } catch {
    return undefined // nobody made it, or another Node
  }
  if (found.length <= SUMS_BYTES || found.readUInt32LE(0) !== crc32(text)) return undefined
  const compiled = found.subarray(SUMS_BYTES)
  return found.readUInt32LE(4) === crc32(compiled) ? compiled : undefined
}

export type LoadedScript = { readonly file: string; readonly text: Buffer; readonly script: Script }
let hear: ((loaded: LoadedScript) => void) | undefined
/** Hears of each script that is loaded from now on. */
export function whenLoaded(tell: (loaded: LoadedScript) => void): void {
  hear = tell
}

/** What V8 has made of a script until now, its functions that have run among it, for the starts after this one. */
export function writeCompiled({ file, text, script }: LoadedScript): void {
  const compiled = script.createCachedData()
  const sums = Buffer.alloc(SUMS_BYTES)
  sums.writeUInt32LE(crc32(text), 0)
  sums.writeUInt32LE(crc32(compiled), 4)
  const path = compiledFile(file)
  const part = `${path}.${process.pid}`
  writeFileSync(part, Buffer.concat([sums, compiled]))
  // The agent may run as another user than whoever installs it.
  chmodSync(part, 0o644)
  renameSync(part, path)
}

const loaded = new Map<string, { readonly exports: unknown }>()
const nodeRequire = createRequire(import.meta.url)

/** Runs a script of the build's folder, once, after those that it requires; returns what it exports. */
export function loadScript(folder: string, name: string): unknown {
  const file = join(folder, name)
  const known = loaded.get(file)
  if (known !== undefined) return known.exports
  const text = readFileSync(file)
  const compiled = compiledFor(file, text)
  const script = new Script(text.toString('latin1'), {
    filename: file,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(compiled === undefined ? {} : { cachedData: compiled }),
  })
  hear?.({ file, text, script })
  const module = { exports: {} }
  loaded.set(file, module)
  const require = (id: string): unknown => (id.startsWith('./') ? loadScript(folder, id.slice(2)) : nodeRequire(id))
  script.runInThisContext()(module.exports, require, module, file, folder)
  return module.exports
}
