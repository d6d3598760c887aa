// `npm run generate`: writes everything that is made from declarations. What is made, and from what, is in scripts/generators.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { messageOf } from '../agent/text/error.ts'
import * as registry from './generators/index.ts'
import { ROOT, type Files, type Generator } from './generators/generator.ts'

/** Files in a folder that belongs to the generator, and that it does not make. */
export function strays({ owns }: Generator, files: Files): readonly string[] {
  if (owns === undefined) return []
  const { folder, ending, but = [] } = owns
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name}`)
    .filter((path) => path.endsWith(ending) && !files.has(path) && !but.includes(path))
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

async function write(generator: Generator): Promise<void> {
  const files = await generator.files(true)
  for (const [path, text] of files) {
    const full = join(ROOT, path)
    if (textOf(full) === text) continue
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, text)
    process.stderr.write(`written: ${path}\n`)
  }
  for (const path of strays(generator, files)) {
    rmSync(join(ROOT, path))
    process.stderr.write(`removed, as nothing makes it any more: ${path}\n`)
  }
}

if (import.meta.main)
  for (const generator of Object.values<Generator>(registry))
    try {
      await write(generator)
    } catch (error) {
      process.stderr.write(`npm run generate: ${messageOf(error)}\n`)
      process.exitCode = 1
    }
