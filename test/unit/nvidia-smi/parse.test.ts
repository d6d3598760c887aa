// Single outputs and single values, written by hand: what each text means, and what each other output is refused with.
import { describe, expect, test } from 'vitest'
import { parseNvidiaSmi } from '../../../agent/sources/nvidia-smi/parse.ts'
import { readList } from '../../../agent/sources/nvidia-smi/list.ts'
import { parseValue } from '../../../agent/sources/nvidia-smi/value.ts'
import type { Dimension } from '../../../agent/sources/nvidia-smi/value.ts'
import { readXml } from '../../../agent/sources/nvidia-smi/xml.ts'
import { exampleGpu, exampleHost } from '../../fakes/nvidia-smi/host.ts'
import { printTable, printText } from '../../fakes/nvidia-smi/print-text.ts'
import { printXml } from '../../fakes/nvidia-smi/print-xml.ts'

test.each<[string, Dimension, number]>([
  ['160 MiB', 'bytes', 160 * 2 ** 20],
  ['11125MiB', 'bytes', 11_125 * 2 ** 20],
  ['2 GiB', 'bytes', 2 ** 31],
  ['97.75 W', 'watts', 97.75],
  ['31920 mW', 'watts', 31.92],
  ['1980 MHz', 'hertz', 1.98e9],
  ['8 %', 'ratio', 0.08],
  ['110 %', 'ratio', 1.1],
  ['39595 us', 'seconds', 0.039595],
  ['-5 C', 'celsius', -5],
  ['9139 KB/s', 'bytes_per_second', 9.139e6],
  ['16x', 'count', 16],
  ['P8', 'pstate', 8],
  ['Not Active', 'flag', 0],
  ['Yes', 'flag', 1],
  ['None', 'recovery_action', 0],
  ['Drain and Reset', 'recovery_action', 4],
  ['Exclusive_Process', 'compute_mode', 3],
])('%s is a value', (text, dimension, value) => expect(parseValue(text, dimension)).toBeCloseTo(value, 6))

test.each([
  ['N/A', 'not_supported', 3],
  ['[N/A]', 'not_supported', 3],
  ['[Not Supported]', 'not_supported', 3],
  ['-', 'not_supported', 3],
  ['', 'not_supported', 3],
  ['Requested functionality has been deprecated', 'not_supported', 26],
  ['[Requested functionality has been deprecated]', 'not_supported', 26],
  ['Insufficient Permissions', 'no_permission', 4],
  ['[Insufficient Permissions]', 'no_permission', 4],
  ['GPU is lost', 'gpu_lost', 15],
  ['[GPU is lost]', 'gpu_lost', 15],
  ['[GPU requires reset]', 'reset_required', 16],
  ['Unknown Error', 'driver_error', 999],
  ['[Unknown Error]', 'driver_error', 999],
  ['ERR!', 'driver_error', 999],
  ['[Timeout]', 'timeout', 10],
  ['[No data]', 'not_supported', 21],
  ['[Not Found]', 'not_supported', 6],
])('%s is a reason', (text, reason, code) => expect(parseValue(text, 'bytes')).toEqual({ reason, code, text }))

test.each([['12 apples'], ['12 W'], ['-3 MiB'], ['0x10'], ['1e5 MiB'], ['NaN'], ['Infinity'], [`${'9'.repeat(400)} MiB`]])('%s is no number of bytes', (text) =>
  expect(parseValue(text, 'bytes')).toMatchObject({ reason: 'parse_error' }),
)

describe('lost GPUs', () => {
  const lost = (line: string, count = 2) => parseNvidiaSmi(`${line}\n${printXml(exampleHost(), 'v12', count)}`)
  const second = '00000000:A1:00.0'

  test.each([
    [`Unable to determine the device handle for GPU1: ${second}: Unknown Error`, { index: 1, pciBusId: second }],
    [`Unable to determine the device handle for GPU ${second}: GPU is lost.  Reboot the system to recover this GPU`, { pciBusId: second }],
    [`Unable to determine the device handle for gpu 0000:A1:00.0: Unknown Error`, { pciBusId: '0000:A1:00.0' }],
    [`Unable to determine the device handle for GPU1: ${second}: GPU requires reset`, { index: 1, pciBusId: second, reason: 'reset_required', code: 16 }],
  ])('%s', (line, gap) => {
    expect(lost(line)).toMatchObject({
      kind: 'xml',
      gpus: [{ index: 0, uuid: exampleGpu.uuid }],
      gaps: [{ reason: 'gpu_lost', code: 15, ...gap, detail: line }],
    })
  })

  test('the first of two: the other keeps its number', () => {
    expect(lost('Unable to determine the device handle for GPU0: 00000000:01:00.0: Unknown Error')).toMatchObject({ gpus: [{ index: 1 }] })
    expect(lost('Unable to determine the device handle for GPU 00000000:01:00.0: GPU is lost.')).toMatchObject({ gpus: [{ index: 1 }] })
  })

  test('one less than counted, and no word of it', () => {
    const result = parseNvidiaSmi(printXml(exampleHost(), 'v12', 8))
    expect(result).toMatchObject({ gaps: [{ reason: 'driver_error', detail: expect.stringContaining('counts 8 GPUs and prints 1') }] })
    expect(result).not.toHaveProperty('gpus.0.index')
  })

  test('before the table, and a container that is text', () => {
    expect(parseNvidiaSmi(`Unable to determine the device handle for GPU1: ${second}: Unknown Error\n${printTable(exampleHost())}`)).toMatchObject({
      kind: 'table',
      gpus: [{ index: 0 }],
      gaps: [{ index: 1 }],
    })
    const result = parseNvidiaSmi(printXml(exampleHost()).replace('<remapped_rows>N/A</remapped_rows>', '<remapped_rows>GPU is lost</remapped_rows>'))
    expect(result.kind === 'xml' ? result.gpus[0]?.missing.get('row_remap_pending') : undefined).toEqual({ reason: 'gpu_lost', code: 15, text: 'GPU is lost' })
  })
})

test.each([
  ['', /printed nothing/],
  [
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.",
    /driver is not loaded/,
  ],
  ['Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.1', /reload the module/],
  ['Failed to initialize NVML: Unknown Error', /could not be initialised/],
  ['No devices were found', /sees no GPU/],
  ['Field "bogus.field" is not a valid field to query.', /field that was asked/],
  ['NVIDIA-SMI version  : 1.2.3\nNVML version : 1.2', /versions/],
  ['GPU 0: Example (UUID: GPU-1)\n\t Link 0: 25 GB/s', /nvlink/],
  ['0000:01:00.0 3D controller: Example Corporation Device 0001', /lspci/],
  ['[    1.5] NVRM: loading', /kernel log/],
  ['<html><body>proxy</body></html>', /this is no output of nvidia-smi/],
  ['<?xml version="1.0" ?>\n<other></other>', /<nvidia_smi_log>/],
  ['a, b\n1, 2', /CSV header/],
])('refused with a clear error: %s', (text, message) => expect(parseNvidiaSmi(text)).toMatchObject({ kind: 'error', message: expect.stringMatching(message) }))

test('a CSV row that does not fit is a gap, the others are read', () => {
  expect(parseNvidiaSmi('index, memory.used [MiB]\n0, 5 MiB\n1, 2, 3\n')).toMatchObject({
    kind: 'query-gpu',
    gpus: [{ index: 0 }],
    gaps: [{ reason: 'parse_error', detail: expect.stringContaining('3 cells; expected 2') }],
  })
})

test('retired pages are counted by cause', () => {
  const page = (address: string, cause: string) => `GPU-1, ${address}, ${cause} ECC`
  const result = parseNvidiaSmi(
    [
      'gpu_uuid, retired_pages.address, retired_pages.cause',
      page('0x0000000000000a01', 'Single Bit'),
      page('0x0000000000000a02', 'Single Bit'),
      page('[N/A]', 'Double Bit'),
    ].join('\n'),
  )
  expect(result.kind === 'retired-pages' ? [...(result.gpus[0]?.values ?? [])] : result).toEqual([['retired_pages_single_bit', 2]])
  expect(result.kind === 'retired-pages' ? [...(result.gpus[0]?.missing.keys() ?? [])] : result).toEqual(['retired_pages_double_bit'])
})

test('the UUIDs of MIG devices are in -L', () => {
  expect(readList('GPU 0: Example X100 (UUID: GPU-1)\n  MIG 3g.40gb     Device  0: (UUID: MIG-2)\n  MIG 1g.10gb     Device  1: (UUID: MIG-3)\n')).toEqual([
    {
      index: 0,
      name: 'Example X100',
      uuid: 'GPU-1',
      migs: [
        { profile: '3g.40gb', index: 0, uuid: 'MIG-2' },
        { profile: '1g.10gb', index: 1, uuid: 'MIG-3' },
      ],
    },
  ])
})

test('Windows line ends', () => {
  const host = exampleHost()
  expect(parseNvidiaSmi(printText(host).replaceAll('\n', '\r\n'))).toEqual(parseNvidiaSmi(printText(host)))
})

test('the first place with a number counts: GeForce boards tell no average power, only the instant', () => {
  const power = '<average_power_draw>N/A</average_power_draw><instant_power_draw>97.75 W</instant_power_draw>'
  const result = parseNvidiaSmi(printXml(exampleHost(), 'v13').replace(/<average_power_draw>.*<\/instant_power_draw>/, power))
  expect(result.kind === 'xml' ? result.gpus[0]?.values.get('power') : result).toBe(97.75)
})

describe('XML that is refused', () => {
  test.each([
    ['<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', /plain DOCTYPE/],
    ['<a><b></a></b>', /<b> is closed by <\/a>/],
    ['<a>1</a><b>2</b>', /second/],
    ['<a><![CDATA[x]]></a>', /DOCTYPE/],
    ['<a>', /cut off/],
    ['<a', /cut off/],
    ['<a>'.repeat(100), /more than 32 levels/],
    ['', /without an element/],
  ])('%s', (text, message) => expect(readXml(text)).toEqual({ error: expect.stringMatching(message) }))

  test('unknown entities stay text: nothing is ever expanded', () => {
    expect(readXml('<a>&lol9; &amp; &#65;</a>')).toEqual({ root: { name: 'a', text: '&lol9; & A', children: [] } })
  })

  test('process names with unescaped marks are text', () => {
    expect(readXml('<a><process_name>python -c "1 < 2 && x</b>"</process_name></a>')).toMatchObject({
      root: { children: [{ text: 'python -c "1 < 2 && x</b>"' }] },
    })
  })
})
