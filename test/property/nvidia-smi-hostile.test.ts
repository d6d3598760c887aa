// No text makes a parser of nvidia-smi's outputs throw, or gives a number that cannot be.
import * as fc from '../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { parseNvidiaSmi } from '../../agent/sources/nvidia-smi/parse.ts'
import type { ParseResult } from '../../agent/sources/nvidia-smi/result.ts'
import type { Dimension } from '../../agent/sources/nvidia-smi/value.ts'
import { parseValue } from '../../agent/sources/nvidia-smi/value.ts'
import { readXml } from '../../agent/sources/nvidia-smi/xml.ts'
import type { TreeNode } from '../../agent/sources/nvidia-smi/tree.ts'
import { exampleHost } from '../fakes/nvidia-smi/host.ts'
import { printApps, printDmon, printList, printPmon, printQuery, printTable, printText } from '../fakes/nvidia-smi/print-text.ts'
import { printXml } from '../fakes/nvidia-smi/print-xml.ts'

/** Everything that came out and cannot be. */
function absurd(result: ParseResult): readonly string[] {
  if (result.kind === 'error') return result.message.length > 10 && result.message.length < 400 ? [] : [`message ${result.message}`]
  const found: string[] = []
  for (const one of result.gpus) {
    for (const { values } of [one, ...one.migs])
      for (const [id, value] of values) if (!Number.isFinite(value) || (value < 0 && !id.includes('temperature'))) found.push(`${id} ${value}`)
    for (const { pid, bytes } of one.processes ?? [])
      if (!Number.isSafeInteger(pid) || (bytes !== null && !(bytes >= 0 && Number.isFinite(bytes)))) found.push(`process ${pid} ${bytes}`)
  }
  return found
}

describe('no text makes a parser throw or invent a number', () => {
  const example = exampleHost()
  const outputs = [
    printXml(example),
    printXml(example, 'v10'),
    printText(example),
    printTable(example),
    printList(example),
    printQuery(example),
    printApps(example),
    printPmon(example),
    printDmon(example),
  ]

  test('any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 300 }),
          fc.constantFrom(...outputs.map((output) => output.slice(0, 40))).chain((head) => fc.string({ maxLength: 200 }).map((tail) => head + tail)),
        ),
        (text) => {
          expect(absurd(parseNvidiaSmi(text))).toEqual([])
        },
      ),
    )
  })

  test('outputs cut off, or with a piece replaced', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...outputs),
        fc.nat(),
        fc.nat(40),
        fc.oneof(
          fc.string({ maxLength: 20 }),
          fc.constantFrom('-5 MiB', 'NaN', '1e999', 'GPU is lost', '<', '</gpu>', '[N/A]', '99999999999999999999999', '\n'),
        ),
        fc.boolean(),
        (output, at, length, piece, cut) => {
          const start = at % output.length
          expect(absurd(parseNvidiaSmi(cut ? output.slice(0, start) : output.slice(0, start) + piece + output.slice(start + length)))).toEqual([])
        },
      ),
      { numRuns: 500 },
    )
  })

  test('values', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.constantFrom<Dimension>('bytes', 'ratio', 'watts', 'hertz', 'celsius', 'seconds', 'bytes_per_second', 'count', 'flag', 'pstate'),
        (text, dimension) => {
          const value = parseValue(text, dimension)
          expect(typeof value === 'number' ? Number.isFinite(value) && (value >= 0 || dimension === 'celsius') : value.reason.length > 0).toBe(true)
        },
      ),
    )
  })

  test('XML: a tree that is printed is read as it was', () => {
    const text = fc.string({ maxLength: 12 }).map((content) => content.trim())
    const name = fc.stringMatching(/^[a-z_]{1,8}$/).filter((tag) => tag !== 'supported_clocks')
    const { tree } = fc.letrec<{ tree: TreeNode; branch: TreeNode; leaf: TreeNode }>((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, tie('leaf'), tie('branch')),
      leaf: fc.record({ name: fc.oneof(name, fc.constant('process_name')), text, children: fc.constant([]) }),
      branch: fc.record({ name, text, children: fc.array(tie('tree'), { maxLength: 3 }) }),
    }))
    const escape = (content: string): string => content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    const print = (node: TreeNode): string => `<${node.name}>${escape(node.text)}${node.children.map(print).join('\n')}</${node.name}>`
    fc.assert(
      fc.property(tree, (node) => {
        expect(readXml(`<?xml version="1.0" ?>\n${print(node)}`)).toEqual({ root: node })
      }),
    )
  })
})
