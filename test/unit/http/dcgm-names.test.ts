// Every default family of dcgm-exporter has a metric of ours behind it, with its name and type.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { catalogue } from '../../../agent/catalogue.ts'
import { XID_NAMES } from '../../../agent/http/exposition/dcgm.ts'

const REFERENCE = join(import.meta.dirname, '../../../../shared/reference/metrics-dcgm-exporter.txt')

/** NVML cannot tell it: the licence of a virtual GPU on a bare host would be an invented 0. */
const LEFT_OUT: ReadonlySet<string> = new Set(['DCGM_FI_DEV_VGPU_LICENSE_STATUS'])

type Family = { readonly name: string; readonly kind: string }

/** Rows `NAME | type | HELP | source` of the section on default families. */
function defaults(): readonly Family[] {
  const text = readFileSync(REFERENCE, 'utf8')
  const section = text.slice(text.indexOf('## A. ACTIVE BY DEFAULT'), text.indexOf('## LABELS'))
  return [...section.matchAll(/^(DCGM_\w+) \| (gauge|counter) \| /gm)].map(([, name = '', kind = '']) => ({ name, kind }))
}

/** Renamed families of 4.9: `OLD -> NEW | …`, those whose new name is known. */
function renamed(): readonly string[] {
  const text = readFileSync(REFERENCE, 'utf8')
  const section = text.slice(text.indexOf('## B. 4.9.0 NAMES'))
  return [...section.matchAll(/^DCGM_FI_(?:DEV|PROF)_\w+ -> (DCGM_\w+)/gm)].map(([, name = '']) => name)
}

describe.skipIf(!existsSync(REFERENCE))('names of dcgm-exporter in the catalogue (needs ../shared)', () => {
  const classic = catalogue.flatMap((def) => def.dcgm?.classic ?? [])
  const current = new Set(catalogue.flatMap((def) => def.dcgm?.current ?? []).map(({ name }) => name))

  test.each(existsSync(REFERENCE) ? defaults().filter(({ name }) => !LEFT_OUT.has(name)) : [])('$name', ({ name, kind }) => {
    const found = classic.filter((one) => one.name === name)
    expect(found.length).toBeGreaterThan(0)
    for (const one of found) expect(one.kind).toBe(kind)
  })
  test.each(existsSync(REFERENCE) ? renamed().filter((name) => name !== XID_NAMES.current) : [])('4.9: %s', (name) => expect(current).toContain(name))

  test('one family is one type with one help', () => {
    const seen = new Map<string, string>()
    for (const { name, kind, help } of [...classic, ...catalogue.flatMap((def) => def.dcgm?.current ?? [])]) {
      expect(seen.get(name) ?? `${kind} ${help}`).toBe(`${kind} ${help}`)
      seen.set(name, `${kind} ${help}`)
    }
  })
})
