// What a TypeScript file imports, read from its text.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export type Import = { readonly from: string; readonly to: string; readonly typeOnly: boolean; readonly lazy: boolean }

/** Import statements of a TypeScript source; `specifier` relative ones resolved to a path. */
export function importsOf(file: string): readonly Import[] {
  const source = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|(^|\s)\/\/.*$/gm, '$1')
  const found: Import[] = []
  for (const match of source.matchAll(/\b(?:import|export)\s+(type\s)?(?:[\w*{}\s,$]+?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)) {
    const specifier = match[2] ?? match[3] ?? ''
    found.push({
      from: file,
      to: specifier.startsWith('.') ? join(dirname(file), specifier) : specifier,
      typeOnly: match[1] !== undefined,
      lazy: match[3] !== undefined,
    })
  }
  return found
}
