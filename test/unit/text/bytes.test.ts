// Each way to write an amount of bytes rounds as it says; sizes that people type are read.
import { describe, expect, test } from 'vitest'
import { bytesText, diskText, fileSizeText, GIB, gib, KIB, memoryText, MIB, parseBytes } from '../../../agent/text/bytes.ts'

describe('written', () => {
  test.each([
    [0, '0 B'],
    [512, '512 B'],
    [1.5 * KIB, '1.5 KiB'],
    [2 * GIB, '2 GiB'],
    [3000 * GIB, '2.93 TiB'],
  ])('in a table %d is %s', (bytes, text) => expect(bytesText(bytes)).toBe(text))

  test.each([
    [512, '512 bytes'],
    [1.5 * KIB, '1.5 KiB'],
    [8 * MIB, '8 MiB'],
    [20.4 * MIB, '20 MiB'],
    [21.9 * GIB, '21.9 GiB'],
    [-3 * GIB, '-3 GiB'],
  ])('in a sentence about memory that ran out %d is %s', (bytes, text) => expect(gib(bytes)).toBe(text))

  test.each([
    [0, '0 MiB'],
    [512, '1 KiB'],
    [563 * MIB, '563 MiB'],
    [GIB - 1, '1.0 GiB'],
    [79.65 * GIB, '79.7 GiB'],
    [1536 * GIB, '1536 GiB'],
    [-2 * GIB, '-2.0 GiB'],
  ])('as memory that is there %d is %s', (bytes, text) => expect(memoryText(bytes)).toBe(text))

  test.each([
    [0.4 * GIB, '0.4 GiB'],
    [9.94 * GIB, '9.9 GiB'],
    [212.4 * GIB, '212 GiB'],
  ])('on a disk %d is %s', (bytes, text) => expect(diskText(bytes)).toBe(text))

  test.each([
    [999, '999 B'],
    [4_200, '4.2 kB'],
    [980_000, '980 kB'],
    [4.2e6, '4.2 MB'],
    [12e9, '12 GB'],
  ])('as the size of a file %d is %s', (bytes, text) => expect(fileSizeText(bytes)).toBe(text))
})

test.each([
  ['2GiB', 2 * GIB],
  ['2 gib', 2 * GIB],
  ['1.5MiB', 1.5 * MIB],
  ['500MB', 5e8],
  ['3k', 3000],
  ['7', 7],
  ['7B', 7],
  ['0', 0],
  ['iB', undefined],
  ['1iB', undefined],
  ['-1', undefined],
  ['1e3', undefined],
  ['99999999TiB', undefined],
])('a size of %s is %s bytes', (text, bytes) => {
  expect(parseBytes(text)).toBe(bytes)
})
