// The parsers of the kernel's files: what is printed is read, and no text makes them throw or give a number that cannot be.
import * as fc from '../setup/fast-check.ts'
import { expect, test } from 'vitest'
import { parseStat } from '../../agent/sources/host/cpu.ts'
import { parseDiskstats } from '../../agent/sources/host/disk-io.ts'
import { osName } from '../../agent/sources/host/info.ts'
import { parseLoad } from '../../agent/sources/host/load.ts'
import { meminfoValue } from '../../agent/sources/host/memory.ts'
import { parseMounts } from '../../agent/sources/host/mounts.ts'
import { parseNetDev } from '../../agent/sources/host/network.ts'
import { parsePressure } from '../../agent/sources/host/pressure.ts'

const count = fc.nat({ max: 2 ** 45 })
const word = fc.stringMatching(/^[a-z][a-z0-9_]{0,9}$/)

test('stat', () => {
  fc.assert(
    fc.property(fc.array(count, { minLength: 8, maxLength: 10 }), fc.integer({ min: 0, max: 256 }), fc.nat(2 ** 31 - 1), (ticks, cores, boot) => {
      const lines = [
        `cpu  ${ticks.join(' ')}`,
        ...Array.from({ length: cores }, (_, core) => `cpu${core} ${ticks.join(' ')}`),
        'intr 5 6',
        'ctxt 7',
        `btime ${boot}`,
      ]
      const times = parseStat(`${lines.join('\n')}\n`)
      expect(times?.cores).toBe(cores)
      expect(times?.bootTime).toBe(boot)
      expect(Object.values(times?.seconds ?? {})).toEqual(ticks.slice(0, 8).map((tick) => tick / 100))
    }),
  )
})

test('meminfo', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(word, count), { selector: ([key]) => key, minLength: 1 }), (entries) => {
      const text = entries.map(([key, value]) => `${`${key}:`.padEnd(16)} ${value} kB\n`).join('')
      expect(entries.map(([key]) => meminfoValue(text, key))).toEqual(entries.map(([, value]) => value * 1_024))
    }),
  )
})

test('net/dev and diskstats', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.record({ name: word, a: count, b: count }), { selector: ({ name }) => name }), (rows) => {
      const net = rows.map(({ name, a, b }) => `${name.padStart(6)}: ${a} 1 0 0 0 0 0 0 ${b} 1 0 0 0 0 0 0\n`).join('')
      expect(parseNetDev(`Inter-| Receive | Transmit\n face |bytes|bytes\n${net}`)).toEqual(
        rows.map(({ name, a, b }) => ({ name, received: a, transmitted: b })),
      )
      const disks = rows.map(({ name, a, b }) => `   8 0 dm_${name} 1 2 ${a} 4 5 6 ${b} 8 9 ${a} 11\n`).join('')
      expect(parseDiskstats(disks)).toEqual(
        rows.map(({ name, a, b }) => ({ device: `dm_${name}`, readBytes: a * 512, writtenBytes: b * 512, busySeconds: a / 1_000 })),
      )
    }),
  )
})

test('mountinfo: a path with any characters comes back', () => {
  const escape = (path: string): string => path.replace(/[ \t\n\\]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`)
  fc.assert(
    fc.property(
      fc.uniqueArray(
        fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 12 }).map((name) => `/${name}`),
        { maxLength: 10 },
      ),
      (paths) => {
        const text = paths.map((path, index) => `${index} 1 8:${index} / ${escape(path)} rw shared:1 - xfs /dev/disk${index} rw\n`).join('')
        expect(new Set(parseMounts(text).map(({ mountpoint }) => mountpoint))).toEqual(new Set(paths))
      },
    ),
  )
})

test('pressure and loadavg', () => {
  fc.assert(
    fc.property(fc.nat(10_000), count, (hundredths, total) => {
      const percent = (hundredths / 100).toFixed(2)
      expect(parsePressure(`some avg10=${percent} avg60=0.00 avg300=0.00 total=${total}\n`)).toEqual([
        { kind: 'some', ratio: Number(percent) / 100, waitedSeconds: total / 1e6 },
      ])
      expect(parseLoad(`${percent} 0.00 ${percent} 1/2 3\n`)).toEqual([Number(percent), 0, Number(percent)])
    }),
  )
})

test('no text makes any of them throw or give a number that cannot be', () => {
  const line = fc.oneof(
    fc.string({ maxLength: 80 }),
    fc.constantFrom(
      'cpu ',
      'cpu  -1 NaN 3',
      'MemTotal: -5 kB',
      'some avg10=',
      'eth0: -1 0 0 0 0 0 0 0 1',
      '8 0 sda -1 -1 -1 -1',
      '1 2 3:4 / / rw - ext4 /dev/a rw',
      'btime x',
      'PRETTY_NAME="',
    ),
  )
  const numbersIn = (value: unknown): readonly number[] =>
    typeof value === 'number' ? [value] : typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 8 }).map((lines) => lines.join('\n')),
      (text) => {
        osName(text)
        const numbers = numbersIn([
          parseStat(text),
          meminfoValue(text, 'MemTotal'),
          parsePressure(text),
          parseLoad(text),
          parseNetDev(text),
          parseDiskstats(text),
          parseMounts(text),
        ])
        expect(numbers.filter((value) => !Number.isFinite(value) || value < 0)).toEqual([])
      },
    ),
    { numRuns: 500 },
  )
})
