// Holds the runbooks: one page per kind of fault that a log can tell, a detector raises or a report links to, each with its sections, and none for a kind that does not exist.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { REASONS } from '../../agent/collectors/throttle.ts'
import { INCIDENT_KINDS, isIncidentKind, kindOf, runbookPath } from '../../agent/model/kinds.ts'
import { MESSAGE_PAGES, MESSAGE_PAGE_NAMES, messagePagePath } from '../../agent/model/message-pages.ts'

const folder = join(import.meta.dirname, '../../alerts/runbooks')
const contract = join(import.meta.dirname, '../../../shared/CONTRACT.md')
const SECTIONS = ['What it means', 'How to confirm', 'What to do now', 'How to prevent it']

const pages = readdirSync(folder)
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ kind: name.slice(0, -'.md'.length), text: readFileSync(join(folder, name), 'utf8') }))
const known = new Set<string>([...INCIDENT_KINDS, ...MESSAGE_PAGE_NAMES])
const messageTitles = new Map<string, string>(Object.entries(MESSAGE_PAGES))
const titleOf = (kind: string): string | undefined => (isIncidentKind(kind) ? kindOf(kind).title : messageTitles.get(kind))

/** The text under a heading of the second level, up to the next one. */
const section = (text: string, title: string): string | undefined => text.split(/^## /m).find((part) => part.startsWith(`${title}\n`))

describe('runbooks', () => {
  test('every kind of incident has its page', () => {
    expect(INCIDENT_KINDS.filter((kind) => !pages.some((page) => `/runbooks/${page.kind}` === runbookPath(kind)))).toEqual([])
  })

  test('every message that is not about an incident has its page', () => {
    expect([...messageTitles.keys()].toSorted()).toEqual(MESSAGE_PAGE_NAMES)
    expect(MESSAGE_PAGE_NAMES.filter((name) => !pages.some((page) => `/runbooks/${page.kind}` === messagePagePath(name)))).toEqual([])
  })

  test('each page is headed by its kind', () => {
    expect(pages.filter(({ kind, text }) => !text.startsWith(`# \`${kind}\`: ${titleOf(kind) ?? 'no such page'}\n`)).map(({ kind }) => kind)).toEqual([])
  })

  test('each page begins with two or three sentences: what it is, why, and what to do first', () => {
    // They are the description of the kind's Prometheus alert, which a pager shows: 300 characters are five lines there.
    const leads = pages.map(({ kind, text }) => ({ kind, lead: /^# .+\n\n([^\n]+)\n\n## What it means\n/.exec(text)?.[1] ?? '' }))
    expect(leads.filter(({ lead }) => lead.length < 100 || lead.length > 300 || !/\. First \S.*[^.]\.$/.test(lead))).toEqual([])
  })

  test('each page has its sections, in their order and with content', () => {
    const wrong = pages.flatMap(({ kind, text }) => {
      const headings = Array.from(text.matchAll(/^## (.+)$/gm), (match) => match[1])
      const missing = SECTIONS.filter((title) => (section(text, title)?.length ?? 0) < title.length + 80)
      return headings.join() === SECTIONS.join() && missing.length === 0 ? [] : [`${kind}: ${missing.join(', ')} of ${headings.join(', ')}`]
    })
    expect(wrong).toEqual([])
  })

  test('how to confirm is a command that one can copy', () => {
    expect(pages.filter(({ text }) => !/```bash\n\s*\S/.test(section(text, 'How to confirm') ?? '')).map(({ kind }) => kind)).toEqual([])
  })

  test('no page names a kind of fault that does not exist', () => {
    // A kind is written in code: words in lower case joined by underscores. Other names of this shape belong to programs, with a dot, dash or equals sign.
    const foreign = new Set([
      'set_per_process_memory_fraction',
      'save_total_limit',
      'num_workers',
      'prefetch_factor',
      'init_process_group',
      'set_memory_growth',
    ])
    const others = new Set([
      'clear_for',
      'dry_run',
      'per_hour',
      'timeout_ms',
      'gpu_seconds_lost',
      'device_map',
      'main_process_first',
      'find_executable_batch_size',
      'shm_size',
      'persistent_workers',
      'device_ids',
      'size_vram',
      'max_tokens',
    ])
    const reasons = new Set<string>(REASONS.map(([, reason]) => reason))
    const causes = new Set(['other_process', 'fraction_cap', 'oversized_request', 'private_pools', 'non_pytorch_memory'])
    // `facts.pattern`: several faults of one kind, distinguished.
    const patterns = new Set(['held_by_nobody', 'held_by_somebody_hidden', 'held_without_work'])
    const named = pages.flatMap(({ kind, text }) => Array.from(text.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g), (match) => ({ kind, name: match[1] ?? '' })))
    expect(named.length).toBeGreaterThan(20)
    const wrong = named.filter(
      ({ name }) =>
        !known.has(name) &&
        !foreign.has(name) &&
        !others.has(name) &&
        !patterns.has(name) &&
        !causes.has(name) &&
        !reasons.has(name) &&
        !name.startsWith('warpwatch_'),
    )
    expect(wrong).toEqual([])
  })
})

describe.skipIf(!existsSync(contract))('runbooks and the contract (needs ../shared)', () => {
  test('every kind of the contract has its page', () => {
    const text = readFileSync(contract, 'utf8')
    const kinds = text.slice(text.indexOf('## Incident kinds'), text.indexOf('`cuda_oom` has'))
    const names = Array.from(kinds.matchAll(/`([a-z0-9_]+)`/g), ([, name = '']) => name)
    expect(names.length).toBeGreaterThan(40)
    expect(names.filter((name) => !pages.some(({ kind }) => kind === name))).toEqual([])
  })
})
