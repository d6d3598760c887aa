// What keys change: selection, sorting, filter, search, the verdict, and the two questions before a signal.
import { describe, expect, test } from 'vitest'
import { arranged, START, step, type Ui } from '../../../../agent/cli/top/ui.ts'
import type { Section } from '../../../../agent/cli/top/sections/section.ts'

const section = (id: Section['id'], rows: readonly (readonly [string, number | undefined])[]): Section => ({
  id,
  title: id,
  least: 2,
  columns: [
    { title: 'NAME', width: 4 },
    { title: 'MEMORY', width: 4 },
  ],
  sortedBy: 1,
  rows: rows.map(([name, value]) => ({ key: name, text: name, values: [name, value], cells: [name, String(value)] })),
})
const sections: readonly Section[] = [
  section('incidents', [['oom', 1]]),
  section('processes', [
    ['101', 5],
    ['102', undefined],
    ['103', 9],
  ]),
]
const press = (keys: readonly string[], ui: Ui = START) => {
  let now = { ui } as ReturnType<typeof step>
  for (const key of keys)
    now = step(
      now.ui,
      key,
      sections.map((one) => arranged(one, now.ui)),
    )
  return now
}
const order = (ui: Ui): readonly string[] => sections.flatMap((one) => (one.id === 'processes' ? arranged(one, ui).rows.map(({ key }) => key) : []))

describe('keys of top', () => {
  test('the largest first; what is not known last, also reversed', () => {
    expect(order(START)).toEqual(['103', '101', '102'])
    expect(order(press(['r']).ui)).toEqual(['101', '103', '102'])
    expect(order(press(['s']).ui)).toEqual(['101', '102', '103'])
  })
  test('arrows select, and stay within the table', () => {
    expect(press(['down']).ui.selected.processes).toBe('103')
    expect(press(['down', 'down']).ui.selected.processes).toBe('101')
    expect(press(['down', 'end', 'down']).ui.selected.processes).toBe('102')
    expect(press(['tab', 'down']).ui).toMatchObject({ focus: 'incidents', selected: { incidents: 'oom' } })
  })
  test('a filter is typed, corrected and cleared', () => {
    const { ui } = press(['f', '1', '0', '9', 'backspace', '3', 'enter'])
    expect([ui.filter, ui.prompt, order(ui)]).toEqual(['103', undefined, ['103']])
    expect(press(['escape'], ui).ui.filter).toBe('')
  })
  test('a search selects in whichever table has it, and says where there is none', () => {
    expect(press(['/', 'o', 'o', 'enter']).ui).toMatchObject({ focus: 'incidents', selected: { incidents: 'oom' } })
    expect(press(['/', 'x', 'enter']).ui.message).toBe('Nothing here has "x"')
  })
  test('v opens the worst incident from anywhere; any key closes it', () => {
    const open = press(['v'])
    expect(open.ui.overlay).toEqual({ kind: 'incident', id: 'oom', offset: 0 })
    expect(press(['x'], open.ui).ui.overlay).toBeUndefined()
  })
  test('a signal needs a selected process, a choice and a yes', () => {
    expect(press(['k'])).toMatchObject({ ui: { message: expect.stringContaining('Select a process first') } })
    expect(press(['down', 'k']).action).toEqual({ kind: 'select-process', key: '103' })
    const asked: Ui = { ...START, overlay: { kind: 'signal', pid: 103, what: '103 (python)' } }
    expect(press(['t', 'y'], asked).action).toEqual({ kind: 'send-signal', pid: 103, signal: 'SIGTERM' })
    for (const keys of [['enter'], ['y'], ['t', 'enter'], ['t', 'n'], ['k', 'k'], ['t', 'escape']])
      expect(press(keys, asked)).toEqual({ ui: { ...START, message: 'No signal sent' } })
  })
  test('q, Ctrl-C and Ctrl-Z; q is a letter while something is typed', () => {
    expect([press(['q']).action, press(['ctrl-c']).action, press(['ctrl-z']).action].map((action) => action?.kind)).toEqual(['quit', 'quit', 'suspend'])
    expect(press(['f', 'q'])).toEqual({ ui: { ...START, prompt: 'filter', filter: 'q' } })
    expect(press(['f', 'ctrl-c']).action?.kind).toBe('quit')
  })
  test('a click chooses a row in any table, and opens it the second time; the wheel moves in the table under it', () => {
    const at = (ui: Ui, key: string, section: string, row?: string) => step(ui, key, sections, { section, ...(row === undefined ? {} : { row }) })
    const chosen = at(START, 'click 3 4', 'incidents', 'oom').ui
    expect(chosen).toMatchObject({ focus: 'incidents', selected: { incidents: 'oom' } })
    expect(chosen.overlay).toBeUndefined()
    expect(at(chosen, 'click 3 4', 'incidents', 'oom').ui.overlay).toEqual({ kind: 'incident', id: 'oom', offset: 0 })
    // The head of a table, and a line of none.
    expect(at(START, 'click 3 3', 'incidents').ui).toEqual({ ...START, focus: 'incidents' })
    expect(step(START, 'click 0 0', sections).ui).toEqual(START)
    const first = at(START, 'wheel-down 0 9', 'processes').ui
    expect(first.selected.processes).toBe('101')
    expect(at(first, 'wheel-down 0 9', 'processes').ui.selected.processes).toBe('103')
    expect(at(at(first, 'wheel-down 0 9', 'processes').ui, 'wheel-up 0 9', 'processes').ui.selected.processes).toBe('101')
    // In a verdict it scrolls, in a question it says no.
    const open = at(chosen, 'click 3 4', 'incidents', 'oom').ui
    expect(press(['wheel-down 1 1', 'wheel-down 1 1', 'wheel-up 1 1'], open).ui.overlay).toMatchObject({ offset: 1 })
    const asked: Ui = { ...START, overlay: { kind: 'signal', pid: 103, what: '103 (python)', signal: 'SIGTERM' } }
    expect(press(['click 1 1'], asked)).toEqual({ ui: { ...START, message: 'No signal sent' } })
  })
  test('m switches the mouse off and on; it is a letter while something is typed', () => {
    const on: Ui = { ...START, mouse: true }
    expect(press(['m'], on).ui).toMatchObject({ mouse: false, message: expect.stringContaining('Mouse off') })
    expect(press(['m', 'm'], on).ui.mouse).toBe(true)
    expect(press(['f', 'm'], on).ui).toMatchObject({ mouse: true, filter: 'm' })
  })
})
