// Facts in a person's units, and runbooks as plain data in which nothing can become markup.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { factRows, offsetText } from '../../../dashboard/src/text/facts.ts'
import { blocksOf, inlinesOf, type Block, type Inline } from '../../../dashboard/src/text/markdown.ts'

const NOW = new Date(2026, 5, 1, 12, 0, 0).getTime()
const shown = (facts: Parameters<typeof factRows>[0]): Readonly<Record<string, string>> =>
  Object.fromEntries(factRows(facts, NOW).map(({ label, value }) => [label, value]))

describe('facts', () => {
  test('have names in words and figures in their units', () => {
    expect(
      shown({
        requested_bytes: 5.39 * 2 ** 30,
        reserved_unallocated_bytes: 14 * 2 ** 20,
        slope_bytes_per_second: 260 * 2 ** 20,
        temperature_celsius: 91,
        power_limit_watts: 650,
        sm_clock_hertz: 1_980_000_000,
        speed_loss_ratio: 0.25,
        timeout_ms: 600_000,
        latency_ms: 12,
        idle_seconds: 3_700,
        gpu_seconds_lost: 945,
        pcie_width: 8,
        exit_code: 137,
        nccl_version: '2.27.3',
        gpus_lost: ['3', '4'],
      }),
    ).toEqual({
      'Asked for': '5.39 GiB',
      'Reserved, not in use': '14 MiB',
      'Grows by': '260 MiB per second',
      Temperature: '91 °C',
      'Power limit': '650 W',
      'SM clock': '1.98 GHz',
      'Speed loss': '25 %',
      Timeout: '10 min 0 s',
      Latency: '12 ms',
      Idle: '1 h 1 min',
      'GPU time lost': '15 min 45 s',
      'PCIe width': '8',
      'Exit code': '137',
      'NCCL version': '2.27.3',
      'GPUs lost': '3, 4',
    })
  })
  test('causes come first, in words; moments are times; an empty list and the program’s own GPU number are left out', () => {
    const rows = factRows(
      { gpu_index: 0, since_ms: NOW - 3_600_000, causes: ['capacity', 'other_process'], gpus: [], other_processes: [{ pid: 7, bytes: 2 ** 31 }] },
      NOW,
    )
    expect(rows.map(({ name }) => name)).toEqual(['causes', 'since_ms', 'other_processes'])
    expect(rows[0]?.value).toBe('its own data do not fit on the card; other processes hold the card')
    expect(rows[1]?.value).toMatch(/^11:00 \S+/)
    expect(rows[2]?.value).toBe('2.00 GiB (pid 7)')
  })
  test('a restart loop counts crashes, reasons are in words, what PyTorch reserved stands beside what it uses', () => {
    const rows = factRows(
      { deaths: 3, allocated_bytes: 1, free_bytes: 2, reserved_bytes: 3, active_reasons: ['sw_thermal_slowdown', 'memory_temperature'] },
      NOW,
      'oom_restart_loop',
    )
    expect(rows.map(({ label }) => label)).toEqual(['Crashes', 'In use by PyTorch', 'Reserved by PyTorch', 'Free', 'Active reasons'])
    expect(rows.at(-1)?.value).toBe('slowed by heat (driver); memory temperature')
    expect(factRows({ since_ms: NOW }, NOW, 'oom_restart_loop')[0]?.label).toBe('First crash')
    expect(factRows({ since_ms: NOW }, NOW, 'memory_leak')[0]?.label).toBe('Grown since')
  })
  test('seconds beside the fault say on which side', () => {
    expect([-63, -1, 0, 12].map(offsetText)).toEqual(['1 min 3 s before', '1 s before', 'at the fault', '12 s after'])
  })
})

const words = (inlines: readonly Inline[]): string => inlines.map(({ text }) => text).join('')

describe('markdown', () => {
  test('headings, paragraphs over lines, lists with what belongs to their items, code, tables', () => {
    const blocks = blocksOf(
      '# `a`: b\n\nOne\ntwo.\n\n- first\n\n  ```bash\n  x | y\n    z\n  ```\n\n- second\n  goes on\n\n1. one\n2. two\n\n| a | b |\n|---|---|\n| `c` | d \\| e |\n',
    )
    expect(blocks.map(({ kind }) => kind)).toEqual(['heading', 'paragraph', 'list', 'list', 'table'])
    expect(blocks[1]).toMatchObject({ inlines: [{ kind: 'text', text: 'One two.' }] })
    expect(blocks[2]).toMatchObject({
      ordered: false,
      items: [[{ kind: 'paragraph' }, { kind: 'code', text: 'x | y\n  z' }], [{ inlines: [{ text: 'second goes on' }] }]],
    })
    expect(blocks[3]).toMatchObject({ ordered: true, items: [{ length: 1 }, { length: 1 }] })
    expect(blocks[4]).toMatchObject({ rows: [[[{ kind: 'code', text: 'c' }], [{ text: 'd | e' }]]] })
  })
  test('links lead to this agent only; all else stays text, markup too', () => {
    expect(inlinesOf('see [this](/runbooks/xid) and `[x](/y)`')).toEqual([
      { kind: 'text', text: 'see ' },
      { kind: 'link', text: 'this', href: '/runbooks/xid' },
      { kind: 'text', text: ' and ' },
      { kind: 'code', text: '[x](/y)' },
    ])
    for (const evil of [
      '[x](javascript:alert(1))',
      '[x](//evil.example)',
      '[x](https://evil.example)',
      '[x](/\\evil.example)',
      '<img src=x onerror=alert(1)>',
    ]) {
      const inlines = inlinesOf(evil)
      expect(inlines.map(({ kind }) => kind).filter((kind) => kind !== 'text')).toEqual([])
      expect(words(inlines)).toBe(evil)
    }
  })

  const folder = join(import.meta.dirname, '../../../alerts/runbooks')
  const pages = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const)
  const flat = (blocks: readonly Block[]): readonly Block[] => blocks.flatMap((block) => (block.kind === 'list' ? block.items.flatMap(flat) : [block]))
  test.each(pages)('%s is understood whole', (_name, text) => {
    const blocks = flat(blocksOf(text))
    expect(blocks.filter(({ kind }) => kind === 'code')).toHaveLength((text.match(/^ *```/gm) ?? []).length / 2)
    expect(blocks.filter(({ kind }) => kind === 'table')).toHaveLength((text.match(/^\|[-| ]+\|$/gm) ?? []).length)
    const left = blocks.flatMap((block) => (block.kind === 'paragraph' ? [words(block.inlines)] : [])).filter((line) => /^(?:[-|#]|```)/.test(line))
    expect(left).toEqual([])
  })
})
