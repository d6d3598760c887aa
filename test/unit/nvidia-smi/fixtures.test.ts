// Every real output at hand parses to readings and gaps or to one clear error; and our XML reader agrees with fast-xml-parser on all of them.
import { XMLParser } from 'fast-xml-parser'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as collectors from '../../../agent/collectors/index.ts'
import { parseNvidiaSmi } from '../../../agent/sources/nvidia-smi/parse.ts'
import { createReadings } from '../../../agent/sources/nvidia-smi/readings.ts'
import type { TreeNode } from '../../../agent/sources/nvidia-smi/tree.ts'
import { readXml } from '../../../agent/sources/nvidia-smi/xml.ts'

const root = join(import.meta.dirname, '../../../../shared/fixtures/nvidia-smi')
const files = existsSync(root) ? readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(root, name)).isFile()) : []
const xmlFiles = files.filter((name) => name.endsWith('.xml'))
const readingsOf = createReadings(Object.values(collectors).flatMap(({ metrics }) => metrics))

/** What each kind of file must come out as; the rest is an error. */
function kindOf(name: string): string {
  if (name.endsWith('.xml')) return 'xml'
  if (/-q\.txt$|__q\.txt$|nvidia-smi-query\./.test(name)) return 'text'
  if (/__table\.txt$|gpud__nvidia-smi\.5/.test(name)) return 'table'
  if (/-L\.txt$|__L\.txt$/.test(name)) return 'list'
  const section = /__(query-gpu|compute-apps|retired-pages|pmon|dmon)\.(csv|txt)$/.exec(basename(name))
  return section?.[1] ?? 'error'
}

describe.skipIf(files.length === 0)('real outputs (needs ../shared)', () => {
  test('there are many of them', () => {
    expect(files.length).toBeGreaterThan(200)
    expect(xmlFiles.length).toBeGreaterThan(15)
  })

  test.each(files)('%s', (name) => {
    const result = parseNvidiaSmi(readFileSync(join(root, name), 'utf8'))
    expect(result.kind).toBe(kindOf(name))
    const message = result.kind === 'error' ? result.message : 'no error'
    expect(message).toMatch(/^.{8,400}$/)
    const gpus = result.kind === 'error' ? [] : result.gpus
    for (const gpu of gpus) {
      const { readings, gaps } = readingsOf(gpu, { gpu: String(gpu.index ?? 0), uuid: gpu.uuid ?? 'GPU-x' }, result.kind === 'error' ? {} : result)
      expect(readings.filter(({ value }) => !Number.isFinite(value))).toEqual([])
      expect(readings.filter(({ series, value }) => value < 0 && !series.metric.name.includes('temperature'))).toEqual([])
      // A text that we do not know would show here: every missing value of every driver at hand has a reason.
      expect(gaps.filter(({ reason }) => reason === 'parse_error')).toEqual([])
      expect(new Set(readings.map(({ series }) => series.key)).size).toBe(readings.length)
    }
  })

  test.each(xmlFiles)('%s has what every GPU has', (name) => {
    const result = parseNvidiaSmi(readFileSync(join(root, name), 'utf8'))
    const gpus = result.kind === 'error' ? [] : result.gpus
    expect(gpus.length).toBeGreaterThan(0)
    for (const { values, uuid, name: product } of gpus) {
      expect([uuid, product]).toEqual([expect.stringMatching(/^GPU-/), expect.stringMatching(/./)])
      for (const id of ['memory_total', 'memory_used', 'temperature', 'clock_sm', 'pcie_width', 'performance_state'] as const)
        expect([id, values.get(id)]).toEqual([id, expect.any(Number)])
      expect((values.get('memory_used') ?? 0) + (values.get('memory_free') ?? 0)).toBeLessThanOrEqual((values.get('memory_total') ?? 0) + 2 * 2 ** 20)
    }
  })

  test.each(xmlFiles)('%s: the same tree as fast-xml-parser', (name) => {
    const text = readFileSync(join(root, name), 'utf8').replace(/<supported_clocks>[\s\S]*?<\/supported_clocks>/g, '')
    const parser = new XMLParser({ preserveOrder: true, ignoreAttributes: false, attributeNamePrefix: '', parseTagValue: false, processEntities: false })
    type Entry = Readonly<Record<string, unknown>>
    const isEntry = (value: unknown): value is Entry => typeof value === 'object' && value !== null
    const entries = (value: unknown): readonly Entry[] => (Array.isArray(value) ? value.filter(isEntry) : [])
    const convert = (entry: Entry): TreeNode => {
      const tag = Object.keys(entry).find((key) => key !== ':@') ?? ''
      const inside = entries(entry[tag])
      const attributes = isEntry(entry[':@']) ? entry[':@'] : {}
      return {
        name: tag,
        ...(typeof attributes['id'] === 'string' ? { id: attributes['id'] } : {}),
        text: inside
          .flatMap((each) => (typeof each['#text'] === 'string' ? [each['#text']] : []))
          .join('')
          .trim(),
        children: inside.filter((each) => !('#text' in each)).map(convert),
      }
    }
    const parsed = entries(parser.parse(text))
      .map(convert)
      .find((node) => node.name === 'nvidia_smi_log')
    expect(parsed).toBeDefined()
    expect(readXml(text)).toEqual({ root: parsed })
  })
})
