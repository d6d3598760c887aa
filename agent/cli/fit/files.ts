// What `fit` reads of a model's folder: config.json, and of the weights only their headers.
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readConfig, type ReadConfig } from '../../fit/hf-config.ts'
import { ConfigShapeError } from '../../fit/hf-fields.ts'
import { headerLength, SafetensorsError, shardsOf, storedWeights, type StoredWeights } from '../../fit/safetensors.ts'
import { messageOf } from '../../text/error.ts'
import { UsageError } from '../command.ts'

const MAX_CONFIG_BYTES = 16 * 1024 * 1024
const INDEX = 'model.safetensors.index.json'

function readable<T>(what: string, file: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof UsageError) throw error
    const known = error instanceof ConfigShapeError || error instanceof SafetensorsError
    throw new UsageError(`fit: ${file}: ${known ? messageOf(error) : `cannot be read as ${what}: ${messageOf(error)}`}`, { cause: error })
  }
}

function textOf(file: string): string {
  const { size } = statSync(file)
  if (size > MAX_CONFIG_BYTES) throw new Error(`${size} bytes, more than ${MAX_CONFIG_BYTES}`)
  return readFileSync(file, 'utf8')
}

function headerOf(file: string): string {
  const descriptor = openSync(file, 'r')
  try {
    if (!fstatSync(descriptor).isFile()) throw new SafetensorsError('this is no regular file')
    const start = Buffer.alloc(8)
    const length = headerLength(start.subarray(0, readSync(descriptor, start, 0, 8, 0)))
    const header = Buffer.alloc(length)
    const read = readSync(descriptor, header, 0, length, 8)
    if (read < length) throw new SafetensorsError(`the file is cut off: ${read} of ${length} bytes of its header are there`)
    return header.toString('utf8')
  } finally {
    closeSync(descriptor)
  }
}

/** A safetensors file, the index of a model in several, or the folder that holds either. */
export function readWeights(path: string): StoredWeights {
  return readable('weights', path, () => {
    const folder = statSync(path).isDirectory()
    const index = folder ? join(path, INDEX) : path
    if (folder ? existsSync(index) : path.endsWith('.json')) return storedWeights(shardsOf(textOf(index)).map((shard) => headerOf(join(dirname(index), shard))))
    return storedWeights([headerOf(folder ? join(path, 'model.safetensors') : path)])
  })
}

export function readConfigFile(file: string): ReadConfig {
  return readable('the config.json of a Hugging Face model', file, () => {
    const text = textOf(file)
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (error) {
      throw new UsageError(`fit: ${file}: this is no JSON: ${messageOf(error)}`, { cause: error })
    }
    return readConfig(value)
  })
}

/** The config.json beside the weights, where there is one. */
export function configBeside(weights: string): string | undefined {
  const file = join(statSync(weights, { throwIfNoEntry: false })?.isDirectory() === true ? weights : dirname(weights), 'config.json')
  return existsSync(file) ? file : undefined
}

/** What to call a model by the file that it comes from: the folder of a config.json, as that name says nothing. */
export function nameOf(path: string): string {
  const name = basename(path)
  return ['config.json', 'model.safetensors', INDEX].includes(name) ? basename(dirname(join(process.cwd(), path))) : name
}
