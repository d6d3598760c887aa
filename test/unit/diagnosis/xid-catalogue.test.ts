// The Xid catalogue beside its reference: every code, the same weight, words of our own; and what NVLink 5 and Xid 154 say.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { plan } from '../../../agent/diagnosis/faults/remedies/plan.ts'
import { actionsFor } from '../../../agent/diagnosis/xid/actions.ts'
import { XID_CODES, xidEntry } from '../../../agent/diagnosis/xid/catalogue.ts'
import { decodeNvlink5 } from '../../../agent/diagnosis/xid/nvlink5.ts'
import { recoveryIn } from '../../../agent/diagnosis/xid/recovery.ts'

const reference = join(import.meta.dirname, '../../../../shared/reference')

describe('the catalogue', () => {
  test('every entry says what it means, why and what to do', () => {
    for (const code of XID_CODES) {
      const entry = xidEntry(code)
      expect(entry.meaning.length, `Xid ${code}`).toBeGreaterThan(20)
      expect(entry.causes.length, `Xid ${code}`).toBeGreaterThan(0)
      expect(plan(actionsFor(entry.action, { xid: code })).length, `Xid ${code}`).toBeGreaterThan(0)
    }
  })

  test('an unknown code is told as such', () => {
    expect(XID_CODES.has(4711)).toBe(false)
    expect(xidEntry(4711)).toMatchObject({ title: 'Unknown code', action: 'report' })
  })

  test('a program is not asked to be reset, and broken memory not to be ignored', () => {
    expect(xidEntry(13).action).toBe('check-program')
    expect(xidEntry(31).causes[0]).toBe('program')
    expect(xidEntry(95)).toMatchObject({ severity: 'critical', action: 'reset-gpu' })
    expect(xidEntry(45)).toMatchObject({ severity: 'info', action: 'follow-other' })
  })
})

describe('NVLink of the fifth generation', () => {
  test('unit, weight and link', () => {
    expect(decodeNvlink5(', RLW_REMAP Nonfatal XC0 i0 Link 02')).toMatchObject({ unit: 'RLW_REMAP', fatal: false, link: 2, severity: 'warning' })
    expect(decodeNvlink5(', TLW_CTRL Fatal XC1 i0 Link 11 (0x00000009 0x00000004 0x00000000)')).toMatchObject({ fatal: true, link: 11, severity: 'critical' })
  })

  test('why a link went down, by the bits of its first register, before and after R575', () => {
    expect(decodeNvlink5('NETIR_LINK_EVT Fatal XC0 i0 Link 09 (0x025025c6 0x00000000)')?.text).toContain('the device at its far end')
    expect(decodeNvlink5('NETIR_LINK_EVT Fatal XC0 i0 Link 09 (0x00400011 0x00000000)')?.text).toContain('the quality of its signal')
    expect(decodeNvlink5('NETIR_LINK_EVT Fatal XC0 i0 Link 09 (0x026001c6 0x00000000)')).toMatchObject({ severity: 'warning' })
  })

  test('the form of older drivers', () => {
    expect(decodeNvlink5('SAW fatal 0 0 Link 3 (00000021, 00000002, 00000000)')).toMatchObject({ unit: 'SAW', fatal: true, link: 3, severity: 'critical' })
  })

  test('another form is left alone', () => {
    expect(decodeNvlink5('something else entirely')).toBeUndefined()
  })
})

describe('the recovery action of Xid 154', () => {
  const changed = (to: string): string => `GPU recovery action changed from 0x0 (None) to 0x2 (${to})`
  test('each value has its remedy', () => {
    expect(recoveryIn(changed('Node Reboot Required'))?.remedy({}).command).toContain('reboot')
    expect(recoveryIn(changed('GPU Reset Required'))?.remedy({}).command).toContain('gpu-reset')
    expect(recoveryIn(changed('Drain and Reset'))?.severity).toBe('critical')
    expect(recoveryIn(changed('Recover IMEX Domain'))?.remedy({}).command).toContain('imex')
    expect(recoveryIn('GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)')).toMatchObject({ to: 'None', severity: 'info' })
  })

  test('the number counts where a driver has other words for it, or an author cut them off', () => {
    const asked = (to: string) => recoveryIn(`GPU recovery action changed from 0x0 (None) to ${to}`)
    expect(asked('0x1 (PF FLR)')).toMatchObject({ to: 'GPU Reset (PF FLR)', severity: 'critical' })
    expect(asked('0x2 (OS Reboot)')?.remedy({}).command).toContain('reboot')
    expect(asked('0x4')?.to).toBe('Drain and Reset')
  })

  test('a new value is passed on', () => {
    expect(recoveryIn(changed('Something New').replace('0x2', '0x9'))).toMatchObject({ to: 'Something New', severity: 'warning' })
  })
})

const file = join(reference, 'xid-catalogue.json')
describe.skipIf(!existsSync(file))('the catalogue and its reference (needs ../shared)', () => {
  const schema = z.object({ xids: z.array(z.object({ xid: z.number(), meaning: z.string(), action_text: z.string(), severity: z.string() })) })
  const known = existsSync(file) ? schema.parse(JSON.parse(readFileSync(file, 'utf8'))).xids : []

  test('knows every code', () => {
    expect(known.length).toBeGreaterThan(150)
    expect(known.filter(({ xid }) => !XID_CODES.has(xid)).map(({ xid }) => xid)).toEqual([])
  })

  test('gives each the same weight', () => {
    expect(
      known
        .filter(({ xid, severity }) => xidEntry(xid).severity !== severity)
        .map(({ xid, severity }) => `${xid}: ${severity}, here ${xidEntry(xid).severity}`),
    ).toEqual([])
  })

  test('in words of its own', () => {
    const copied = known.filter(({ xid, meaning, action_text }) => {
      const { meaning: ours, advice } = xidEntry(xid)
      return meaning.includes(ours) || ours === meaning || (advice !== undefined && action_text.includes(advice))
    })
    expect(copied.map(({ xid }) => xid)).toEqual([])
  })
})

const decode = join(reference, 'xid-nvlink5-decode.json')
describe.skipIf(!existsSync(decode))('links that went down, by the reference (needs ../shared)', () => {
  const schema = z.object({
    rows: z.array(z.object({ unit: z.string(), v1: z.object({ value: z.string() }), v2: z.object({ value: z.string() }), immediate: z.string() })),
  })
  test('whether a reset is asked for is the same, in both layouts of the register', () => {
    const rows = schema.parse(JSON.parse(readFileSync(decode, 'utf8'))).rows.filter(({ unit }) => unit.startsWith('NETIR_LINK_EVT'))
    expect(rows.length).toBeGreaterThan(15)
    const wrong = rows.flatMap(({ v1, v2, immediate }) =>
      [v1.value, v2.value].filter((value) => {
        const event = decodeNvlink5(`NETIR_LINK_EVT Fatal XC0 i0 Link 01 (${value} 0x00000000)`)
        return event?.severity !== (immediate === 'RESET_GPU' ? 'critical' : 'warning')
      }),
    )
    expect(wrong).toEqual([])
  })
})
