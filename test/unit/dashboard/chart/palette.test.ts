// Colours of containers: each keeps its own, sixteen differ for every kind of colour vision, and all stand out from the ground.
import * as fc from '../../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { createColourBook, PALETTES, SLOTS } from '../../../../dashboard/src/parts/chart/palette.ts'

type Triple = readonly [number, number, number]
const times = (rows: readonly Triple[], [x, y, z]: Triple): Triple => {
  const [a = 0, b = 0, c = 0] = rows.map(([i, j, k]) => i * x + j * y + k * z)
  return [a, b, c]
}
const linear = (hex: string): Triple => {
  const [r = 0, g = 0, b = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
  return [r, g, b]
}
const luminance = (hex: string): number => {
  const [r, g, b] = linear(hex)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
const contrast = (a: string, b: string): number => {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y)
  return (high + 0.05) / (low + 0.05)
}
/** OKLab, in hundredths: 2 is what an eye just sees between two fields that touch. */
const lab = (light: Triple): Triple => {
  const [l, m, s] = times(
    [
      [0.4122, 0.5363, 0.0514],
      [0.2119, 0.6807, 0.1074],
      [0.0883, 0.2817, 0.63],
    ],
    light,
  )
  return times(
    [
      [21.05, 79.36, -0.41],
      [197.8, -242.86, 45.06],
      [2.59, 78.28, -80.87],
    ],
    [Math.cbrt(l), Math.cbrt(m), Math.cbrt(s)],
  )
}
/** After Machado, Oliveira and Fernandes (2009), without the third kind of cone. */
const EYES: Readonly<Record<string, readonly Triple[]>> = {
  'all cones': [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  'no green cone': [
    [0.3673, 0.8606, -0.2279],
    [0.2801, 0.6725, 0.0474],
    [-0.0118, 0.0429, 0.9689],
  ],
  'no red cone': [
    [0.1523, 1.0526, -0.2049],
    [0.1145, 0.7863, 0.0992],
    [-0.0039, -0.0481, 1.052],
  ],
  'no blue cone': [
    [1.2555, -0.0767, -0.1788],
    [-0.0784, 0.9308, 0.1476],
    [0.0047, 0.6914, 0.3039],
  ],
}

/** The least distance between two of them. */
function closest(colours: readonly string[], eye: readonly Triple[]): number {
  const seen = colours.map((hex) => lab(times(eye, linear(hex))))
  return Math.min(...seen.flatMap((a, i) => seen.slice(0, i).map((b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]))))
}

describe.each(['dark', 'light'] as const)('the colours of containers, %s', (theme) => {
  const { containers, surface } = PALETTES[theme]

  test('there are as many as slots, and no two look alike', () => {
    expect(containers).toHaveLength(SLOTS)
    expect(closest(containers, EYES['all cones'] ?? [])).toBeGreaterThan(8)
  })

  test.each([
    ['no green cone', 5.5],
    ['no red cone', 5.5],
    ['no blue cone', 4.5],
  ])('no two look alike with %s', (eye, least) => {
    expect(closest(containers, EYES[eye] ?? [])).toBeGreaterThan(least)
  })

  test('all have the contrast of graphics to the ground', () => {
    expect(containers.filter((hex) => contrast(hex, surface) < 3)).toEqual([])
  })
})

describe('the colour book', () => {
  test('the first eight containers have the first eight colours, sixteen differ, and each keeps its own', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { minLength: SLOTS, maxLength: SLOTS }), (names) => {
        const book = createColourBook()
        const slots = names.map(book.slot)
        expect(new Set(slots).size).toBe(SLOTS)
        expect(Math.max(...slots.slice(0, 8))).toBe(7)
        expect(names.map(book.slot)).toEqual(slots)
      }),
    )
  })

  test('the seventeenth shares a colour', () => {
    const book = createColourBook()
    for (let i = 0; i < SLOTS; i++) book.slot(`job-${i}`)
    expect(book.slot('one more')).toBeLessThan(SLOTS)
  })
})
