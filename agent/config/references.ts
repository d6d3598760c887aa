// Values that are elsewhere, so that no secret is in the configuration: `{env: NAME}` and `{file: PATH}`.
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { codeOf } from '../text/error.ts'
import { isGroup } from './groups.ts'

/** Where references are looked up. */
export type Sources = { readonly env: Readonly<Record<string, string | undefined>>; readonly cwd: string }
export type Found =
  { readonly value: string; /** The secret is there, but others could read it too. */ readonly warning?: string } | { readonly problem: string }

/** A secret beyond this is none. */
const MAX_BYTES = 64 * 1_024

export type Reference = { readonly env: string } | { readonly file: string }
export function isReference(value: unknown): value is Reference {
  if (!isGroup(value)) return false
  const [[key, name] = [], ...others] = Object.entries(value)
  return others.length === 0 && (key === 'env' || key === 'file') && typeof name === 'string'
}

function fromFile(path: string, cwd: string): Found {
  try {
    const full = resolve(cwd, path)
    const stat = statSync(full)
    // A pipe or a terminal would be waited for.
    if (!stat.isFile()) return { problem: `${path} is no regular file` }
    if (stat.size > MAX_BYTES) return { problem: `${path} is too large: ${stat.size} bytes, at most ${MAX_BYTES} are read` }
    const value = readFileSync(full, 'utf8').replace(/(\r?\n)+$/, '')
    if (value === '') return { problem: `${path} is empty: write the text into it` }
    return { value, ...((stat.mode & 0o004) === 0 ? {} : { warning: `every user of this machine can read the secret in ${path}` }) }
  } catch (error) {
    const code = codeOf(error) ?? 'an error'
    return { problem: `${path} cannot be read: ${code}` }
  }
}

export function lookUp(reference: Reference, { env, cwd }: Sources): Found {
  if ('file' in reference) return fromFile(reference.file, cwd)
  const value = env[reference.env]
  return value === undefined || value === ''
    ? { problem: `the variable ${reference.env} is ${value === '' ? 'empty' : 'not set'} in the environment` }
    : { value }
}
