// The parts of the renderer: widths, keys, sparklines, what a terminal can do, the difference of two screens, and the share of the height.
import { describe, expect, test } from 'vitest'
import * as fc from '../../../setup/fast-check.ts'
import { heightsOf } from '../../../../agent/cli/top/view.ts'
import { placeColumns } from '../../../../agent/cli/top/draw-table.ts'
import { keysIn } from '../../../../agent/cli/top/terminal/keys.ts'
import { capabilitiesOf, type Capabilities } from '../../../../agent/cli/top/terminal/look.ts'
import { createScreen } from '../../../../agent/cli/top/terminal/screen.ts'
import { barCells, sparkline } from '../../../../agent/cli/top/terminal/sparkline.ts'
import { cutTo, oneLine, padTo, widthOf } from '../../../../agent/cli/top/terminal/width.ts'
import { screenOf } from '../../../setup/terminal-screen.ts'

const CAPABLE: Capabilities = { depth: '256', unicode: true, modern: true }

describe('text', () => {
  test('wide letters take two cells, marks none', () => {
    expect([widthOf('abc'), widthOf('小林'), widthOf('한글'), widthOf('🦊')]).toEqual([3, 4, 4, 2])
    expect([cutTo('小林小林', 5), padTo('小', 4), padTo('x', 3, true)]).toEqual(['小林…', '小  ', '  x'])
  })
  test('nothing from outside is left that a terminal obeys', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b-\u200f]/.test(oneLine(text))))
    expect(oneLine('a\u001b[2Jb\r\nc\u202ed')).toBe('a·[2Jb cd')
  })
})

describe('keys', () => {
  test.each([
    ['q', ['q']],
    ['\u001b[A\u001b[B', ['up', 'down']],
    ['\u001bOA', ['up']],
    ['\u001b[<0;13;6M\u001b[<0;13;6m', ['click 12 5']],
    ['\u001b[<64;1;1M\u001b[<65;300;80M', ['wheel-up 0 0', 'wheel-down 299 79']],
    // Other buttons, and a press with Shift.
    ['\u001b[<2;1;1M\u001b[<4;1;1M\u001b[<35;1;1M', []],
    ['\u001b[5~', ['page-up']],
    ['\u001b', ['escape']],
    ['\r\t\u007f\u0003\u001a', ['enter', 'tab', 'backspace', 'ctrl-c', 'ctrl-z']],
    ['\u001b[<3;12;5M\u001b[200~x', ['x']],
    ['小', ['小']],
    ['\u0001\u0002', []],
  ])('%j', (sent, keys) => expect(keysIn(sent)).toEqual(keys))
})

describe('what a terminal can do', () => {
  test.each([
    [
      { TERM: 'xterm-256color', LANG: 'en_US.UTF-8' },
      { depth: '256', unicode: true, modern: true },
    ],
    [
      { TERM: 'xterm', COLORTERM: 'truecolor', LC_ALL: 'C.utf8' },
      { depth: 'truecolor', unicode: true, modern: true },
    ],
    [
      { TERM: 'xterm', LANG: 'C' },
      { depth: '16', unicode: false, modern: true },
    ],
    [
      { TERM: 'linux', LANG: 'C.UTF-8' },
      { depth: '16', unicode: false, modern: false },
    ],
    [{ TERM: 'vt100' }, { depth: 'none', unicode: false, modern: false }],
    [{ TERM: 'dumb' }, { depth: 'none', unicode: false, modern: false }],
    [
      { TERM: 'xterm-256color', LANG: 'C.UTF-8', NO_COLOR: '1' },
      { depth: 'none', unicode: true, modern: true },
    ],
    [{}, { depth: '16', unicode: false, modern: false }],
  ])('%j', (env, capabilities) => expect(capabilitiesOf(env)).toEqual(capabilities))
})

describe('curves', () => {
  test('two samples in a cell; 0 has a dot, what is missing has none', () => {
    expect(sparkline([0, 1], 2, true)).toBe('⠀⣸')
    expect(sparkline([undefined, undefined, 1, 1], 2, true)).toBe('⠀⣿')
    expect(sparkline([0.5, 0.5], 1, false)).toBe('+')
  })
  test('parts of a bar never exceed it, and what is there is seen', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { maxLength: 8 }), fc.integer({ min: 0, max: 60 }), (parts, cells) => {
        const taken = barCells(parts, 100, cells)
        return taken.reduce((sum, one) => sum + one, 0) <= cells && taken.every((one) => one >= 0)
      }),
    )
    expect(barCells([1, 50], 100, 10)).toEqual([1, 4])
  })
})

describe('the difference of two screens', () => {
  const words = fc.array(fc.tuple(fc.integer({ min: 0, max: 29 }), fc.integer({ min: 0, max: 7 }), fc.string({ unit: 'grapheme', maxLength: 12 })), {
    maxLength: 20,
  })
  test('written over the first it shows the second', () => {
    const draw = (texts: readonly (readonly [number, number, string])[]) => {
      const screen = createScreen(30, 8, CAPABLE)
      for (const [x, y, text] of texts) screen.put(x, y, text.replace(/[^ -~]/g, ''))
      return screen
    }
    fc.assert(
      fc.property(words, words, (first, second) => {
        const [before, after] = [draw(first), draw(second)]
        const { rows } = screenOf(before.changes(undefined) + after.changes(before), 30, 8)
        // The last cell is never written.
        expect(rows.slice(0, 7)).toEqual(after.lines(false).slice(0, 7))
        expect(after.changes(after)).toBe('')
      }),
    )
  })
  test('what is half outside is cut off', () => {
    const screen = createScreen(5, 2, CAPABLE)
    screen.put(3, 0, '小林')
    screen.put(-1, 1, 'abcdefgh')
    screen.put(0, 9, 'x')
    expect(screen.lines(false)).toEqual(['   小', 'bcdef'])
  })
})

describe('sizes', () => {
  const section = (id: 'gpus' | 'incidents' | 'jobs' | 'processes', rows: number, least: number) => ({
    id,
    title: id,
    least,
    columns: [],
    rows: Array.from({ length: rows }, (_, i) => ({ key: String(i), cells: [], values: [], text: '' })),
  })
  test('the height is shared: none has more than it needs, none a head alone, all of it is used', () => {
    const all = [section('gpus', 16, 8), section('incidents', 3, 2), section('jobs', 9, 3), section('processes', 200, 3)]
    for (let rows = 2; rows < 260; rows++) {
      const heights = heightsOf(all, rows, 'processes')
      expect(heights.reduce((sum, height) => sum + height, 0)).toBeLessThanOrEqual(rows)
      expect(heights.every((height, i) => height !== 1 && height <= (all[i]?.rows.length ?? 0) + 1)).toBe(true)
      expect(heights[3]).toBeGreaterThanOrEqual(2)
    }
    expect(heightsOf(all, 232, 'processes')).toEqual([17, 4, 10, 201])
  })
  test('columns are left out before they overlap', () => {
    const columns = [
      { title: 'A', width: 10 },
      { title: 'B', width: 20, drop: 2 },
      { title: 'C', width: 10, grow: 1, most: 15, drop: 1 },
    ]
    expect(placeColumns({ columns, rows: [] }, 100).map(({ at, width }) => [at, width])).toEqual([
      [0, 10],
      [1, 20],
      [2, 15],
    ])
    expect(placeColumns({ columns, rows: [] }, 30).map(({ at, width }) => [at, width])).toEqual([
      [0, 10],
      [2, 15],
    ])
    expect(placeColumns({ columns, rows: [] }, 15).map(({ at }) => at)).toEqual([0])
    const row = { key: '1', text: '', cells: [], values: ['a', undefined, 1] }
    const other = { ...row, values: ['b', undefined, undefined] }
    expect(placeColumns({ columns, rows: [row, other] }, 100).map(({ at }) => at)).toEqual([0, 2])
  })
})
