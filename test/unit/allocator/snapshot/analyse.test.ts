// Snapshots of a few blocks, figure by figure: holes and cache, pools, waste, sites, requests, advice, old and odd forms.
import { describe, expect, test } from 'vitest'
import { analyse, type Analysis, type DeviceAnalysis, type Question } from '../../../../agent/allocator/snapshot/analyse.ts'
import { readSnapshot } from '../../../../agent/allocator/snapshot/file.ts'
import { jitPickle, type Plain } from './pickler.ts'
import { block, frames, free, GIB, MIB, segment, snapshot } from './scene.ts'

const analysed = (value: Plain, question?: Question): Analysis => analyse(readSnapshot(jitPickle(value)), question).analysis
function device(value: Plain, index = 0): DeviceAnalysis {
  const found = analysed(value).devices[index]
  if (found === undefined) throw new Error(`expected device ${index} in the snapshot`)
  return found
}
const texts = (one: DeviceAnalysis): string => one.remedies.map(({ text, command }) => `${text} ${command ?? ''}`).join('\n')

describe('where the memory is', () => {
  const one = device(
    snapshot([
      segment([block(30 * MIB), free(10 * MIB), block(20 * MIB)]),
      segment([free(40 * MIB)]),
      segment([block(MIB, 'active_pending_free'), free(MIB)], { segment_type: 'small' }),
      segment([block(8 * MIB), free(12 * MIB)], { stream: 7, segment_pool_id: [0, 5] }),
    ]),
  )
  test('in all', () => {
    expect(one).toMatchObject({
      segments: 4,
      reserved_bytes: 122 * MIB,
      allocated_bytes: 58 * MIB,
      pending_bytes: MIB,
      free_bytes: 63 * MIB,
      free_blocks: 4,
      largest_free_bytes: 40 * MIB,
      free_segments: 1,
      releasable_bytes: 40 * MIB,
      stranded_bytes: 23 * MIB,
    })
    expect(one.stranded_ratio).toBeCloseTo(23 / 122)
    expect(one.free_below.map(({ bytes }) => bytes / MIB)).toEqual([0, 1, 63, 63])
  })
  test('by pool, stream and kind, the largest first', () => {
    expect(one.pools.map(({ pool, stream, kind, reserved_bytes: held }) => [pool, stream, kind, held / MIB])).toEqual([
      ['0,0', '0', 'large', 100],
      ['0,5', '7', 'large', 20],
      ['0,0', '0', 'small', 2],
    ])
  })
  test('on several devices', () => {
    const both = analysed(snapshot([segment([block(MIB)], { device: 1 }), segment([block(3 * MIB)])]), { requestBytes: 1 })
    expect(both.devices.map((one) => [one.device, one.reserved_bytes / MIB])).toEqual([
      [0, 3],
      [1, 1],
    ])
    expect(both.request?.device).toBe(0)
  })
  test('expandable: whole free pages of 20 MiB come back, the rest of a hole does not', () => {
    const grown = device(snapshot([segment([block(30 * MIB), free(65 * MIB), block(5 * MIB)], { is_expandable: true })]))
    expect([grown.releasable_bytes, grown.stranded_bytes, grown.stranded_native_ratio]).toEqual([40 * MIB, 25 * MIB, 0])
  })
})

test('waste inside blocks', () => {
  const one = device(snapshot([segment([block(8 * MIB, 'active_allocated', { requested_size: 6 * MIB }), block(2 * MIB), free(10 * MIB)])]))
  expect(one.internal).toEqual({ active_bytes: 10 * MIB, requested_bytes: 8 * MIB, waste_bytes: 2 * MIB, waste_ratio: 0.2 })
  expect(texts(one)).toContain('Blocks are 2 MiB (20 %) larger than what was asked for')
})

test('the biggest allocations by their place, the frame of the program first', () => {
  const [here, there] = [frames('empty', 'step', 'main'), frames('empty', 'load')]
  const blocks = [
    block(3 * MIB, 'active_allocated', { frames: here }),
    block(9 * MIB, 'active_allocated', { frames: there }),
    block(8 * MIB, 'active_allocated', { frames: here }),
    block(MIB),
  ]
  for (const bytes of [jitPickle(snapshot([segment(blocks)]), new Set([here, there])), Buffer.from(JSON.stringify(snapshot([segment(blocks)])))]) {
    const [one] = analyse(readSnapshot(bytes), { top: 2 }).analysis.devices
    expect(one?.live.top.map((site) => [site.bytes / MIB, site.blocks, site.largest_bytes / MIB, site.user_frame])).toEqual([
      [11, 2, 8, { file: '/home/me/train.py', line: 11, function: 'step' }],
      [9, 1, 9, { file: '/home/me/train.py', line: 11, function: 'load' }],
    ])
    expect(one?.live.top[0]?.frames).toHaveLength(3)
    expect(one?.live.others).toEqual({ sites: 1, bytes: MIB, blocks: 1 })
    expect(one?.live.recorded_bytes).toBe(20 * MIB)
  }
})

describe('what a request would meet', () => {
  const value = snapshot([
    segment([block(30 * MIB), free(10 * MIB), block(20 * MIB), free(25 * MIB), block(5 * MIB)]),
    segment([free(40 * MIB)]),
    segment([free(90 * MIB)], { stream: 9 }),
    segment([block(MIB), free(MIB)], { segment_type: 'small' }),
    segment([free(300 * MIB)], { segment_pool_id: [0, 2] }),
  ])
  const asked = (requestBytes: number, deviceFreeBytes?: number, of: Plain = value) =>
    analysed(of, { requestBytes, ...(deviceFreeBytes === undefined ? {} : { deviceFreeBytes }) }).request

  test('the smallest block that fits', () => {
    expect(asked(22 * MIB)).toMatchObject({
      outcome: 'free_block',
      block: { bytes: 25 * MIB, rest_bytes: 3 * MIB, rest_is_split_off: true },
      needs_free_bytes: 0,
    })
    expect(asked(24.5 * MIB)).toMatchObject({ block: { bytes: 25 * MIB, rest_bytes: 0.5 * MIB, rest_is_split_off: false } })
    expect(asked(0.5 * MIB)).toMatchObject({ kind: 'small', block: { bytes: MIB } })
    expect(asked(22 * MIB)?.verdict).toBe('A request of 22 MiB on device 0 fits: a free block of 25 MiB takes it; 3 MiB of it stays free.')
  })
  test('no block of another stream or of a private pool', () => {
    expect(asked(80 * MIB, 0)).toMatchObject({ stream: '0', pool: '0,0', largest_free_bytes: 40 * MIB, outcome: 'after_flush', flush_bytes: 130 * MIB })
  })
  test('the device, a flush, or nothing', () => {
    expect(asked(80 * MIB, 80 * MIB)?.outcome).toBe('device')
    expect(asked(200 * MIB, 70 * MIB)?.outcome).toBe('after_flush')
    expect(asked(200 * MIB, 70 * MIB - 1)).toMatchObject({ outcome: 'fails', needs_free_after_flush_bytes: 70 * MIB, device_bytes: 200 * MIB })
    expect(asked(200 * MIB)).toMatchObject({ outcome: 'depends', needs_free_bytes: 200 * MIB })
    expect(asked(200 * MIB)?.verdict).toContain('so it fits if the device has 70 MiB free.')
    expect(asked(60 * MIB)?.verdict).toContain('fits at the latest after a flush')
  })
  test('what waits for a stream is free after the flush, which waits for it', () => {
    const waiting = snapshot([segment([block(60 * MIB, 'active_pending_free'), free(40 * MIB)])])
    expect(asked(90 * MIB, 0, waiting)?.outcome).toBe('after_flush')
    expect(asked(50 * MIB, 0, waiting)?.outcome).toBe('after_flush')
  })
  test('without an answer where the file cannot give one', () => {
    expect(analysed(value).unknown).toEqual(expect.arrayContaining([expect.stringContaining('--free')]))
    expect(analysed(value, { requestBytes: 1, deviceFreeBytes: 1 }).unknown.join()).not.toContain('--free')
  })
  test('the last error of the trace is asked again', () => {
    const oom = (size: number, time: number): Plain => ({
      action: 'oom',
      device_free: 7 * MIB,
      size,
      stream: 0,
      time_us: time,
      frames: frames('empty', 'forward'),
    })
    const traced = analysed({ ...value, device_traces: [[oom(MIB, 5), { action: 'alloc', addr: 1, size: 1 }, oom(GIB, 9e6)], []] })
    expect(traced.trace).toMatchObject({ entries: 3, last_oom: { device: 0, rounded_request_bytes: GIB, device_free_bytes: 7 * MIB, time_ms: 9000 } })
    expect(traced.request).toMatchObject({ request_bytes: GIB, outcome: 'fails', device_free_bytes: 7 * MIB, device_free_from: 'error' })
    expect(traced.request?.verdict).toContain('the device had 7 MiB free at the error')
  })
})

describe('verdict and advice', () => {
  const holes = [segment([block(80 * MIB), free(20 * MIB), block(MIB)])]
  test('fragmented: expandable segments, unless they are on', () => {
    const one = device(snapshot(holes))
    expect(one.verdict).toBe(
      'Fragmented: 20 MiB (20 %) of the 101 MiB that PyTorch holds is free, but is in holes between live blocks; the largest free block is 20 MiB.',
    )
    expect(texts(one)).toContain('expandable_segments:True')
    const settings = { expandable_segments: true, PYTORCH_CUDA_ALLOC_CONF: 'expandable_segments:True' }
    const on = device(snapshot([segment([block(65 * MIB), free(34 * MIB), block(21 * MIB)], { is_expandable: true })], { allocator_settings: settings }))
    expect(texts(on)).toContain('expandable already')
    expect(texts(on)).not.toContain('export')
  })
  test('full, or warm cache: no such advice', () => {
    const full = device(snapshot([segment([block(100 * MIB), free(MIB)])]))
    expect(full.verdict).toMatch(/^Full, not fragmented: 100 MiB \(99 %\)/)
    expect(texts(full)).not.toContain('expandable')
    const cache = device(snapshot([segment([block(50 * MIB)]), segment([free(50 * MIB)])]))
    expect(cache.verdict).toMatch(/^Not fragmented: 50 MiB \(50 %\) of the 100 MiB that PyTorch holds is warm cache/)
    expect(texts(cache)).toContain('torch.cuda.empty_cache()')
  })
  test('private pools, waiting blocks, other streams, missing history', () => {
    const one = device(
      snapshot([
        segment([block(50 * MIB), block(20 * MIB, 'active_pending_free')]),
        segment([block(20 * MIB), free(20 * MIB)], { segment_pool_id: [1, 0] }),
        segment([block(5 * MIB), free(30 * MIB)], { stream: 4 }),
      ]),
    )
    expect(texts(one)).toContain('20 MiB (14 %) is free in private pools')
    expect(texts(one)).toContain('20 MiB (14 %) is freed but waits for another stream')
    expect(texts(one)).toContain('30 MiB (21 %) is free in blocks of other streams')
    expect(texts(one)).toContain('_record_memory_history')
  })
  test('nothing held', () => {
    expect(analysed(snapshot([])).devices).toEqual([])
  })
})

describe('other forms', () => {
  test('PyTorch 1.x and 2.0: no pool id, no requested size, frames in the history', () => {
    const old = [
      {
        device: 0,
        address: 1,
        total_size: 3 * MIB,
        stream: 0,
        segment_type: 'large',
        blocks: [
          { size: MIB, state: 'active_awaiting_free', history: [{ addr: 1, real_size: 5, frames: frames('empty', 'old') }] },
          { size: MIB, state: 'active_allocated', history: [{ frames: frames('old') }] },
          { size: MIB, state: 'inactive' },
        ],
      },
    ]
    const found = analysed(old)
    expect(found.devices[0]).toMatchObject({ pending_bytes: MIB, allocated_bytes: MIB, pools: [{ pool: '0,0', expandable: false }] })
    expect(found.devices[0]?.internal).toBeUndefined()
    expect(found.devices[0]?.live.top[0]?.user_frame?.function).toBe('old')
    expect(found.unknown.join()).toContain('sizes that were asked for')
    expect(found.unknown.join()).toContain('default rules are assumed')
  })
  test('an address and a stream beyond a double', () => {
    const wide = analysed(snapshot([segment([block(MIB)], { address: 2n ** 56n + 513n, stream: 2n ** 60n + 1n })]))
    expect(wide.devices[0]?.pools[0]?.stream).toBe('1152921504606846977')
  })
  test('no limit of the split size, by both ways of dumping', () => {
    for (const none of [-1, 2n ** 64n - 1n]) {
      expect(analysed(snapshot([], { allocator_settings: { max_split_size: none } })).settings).toEqual({})
    }
    expect(analysed(snapshot([], { allocator_settings: { max_split_size: 200 * MIB } })).settings).toEqual({ max_split_bytes: 200 * MIB })
  })
  test('blocks that do not fill their segment are counted, and it is said', () => {
    const found = analysed(snapshot([segment([block(MIB)], { total_size: 2 * MIB })]))
    expect(found.devices[0]?.reserved_bytes).toBe(MIB)
    expect(found.notes).toEqual(['segment 0 is 2097152 bytes, its blocks are 1048576: the blocks are counted'])
  })
  test('the probe’s message: pools without blocks, and its request', () => {
    const pool = {
      pool: [0, 0],
      stream: 0,
      kind: 'large',
      expandable: false,
      segments: 9,
      total_bytes: 900 * MIB,
      active_bytes: 700 * MIB,
      pending_bytes: 0,
      free_bytes: 200 * MIB,
      free_blocks: 40,
      largest_free_bytes: 30 * MIB,
      free_segments: 0,
      fitting_bytes: 0,
    }
    const message = {
      type: 'oom',
      n: 1,
      t: 1,
      device: 3,
      request_bytes: 60 * MIB,
      limit_bytes: 80 * GIB,
      free_bytes: 10 * MIB,
      stats: { requested_bytes: [690 * MIB, 0] },
      pools: [pool],
    }
    const { analysis } = analyse(readSnapshot(Buffer.from(JSON.stringify(message))))
    expect(analysis).toMatchObject({ format: 'probe', devices: [{ device: 3, reserved_bytes: 900 * MIB, stranded_bytes: 200 * MIB, releasable_bytes: 0 }] })
    expect(analysis.devices[0]?.internal?.waste_bytes).toBe(10 * MIB)
    expect(analysis.request).toMatchObject({ device: 3, outcome: 'fails', device_free_from: 'error', device_bytes: 60 * MIB })
    // A whole free segment, or expandable ones: the sums do not tell what a flush gives back.
    const open = analyse(readSnapshot(Buffer.from(JSON.stringify({ ...message, pools: [{ ...pool, free_segments: 2 }] })))).analysis
    expect(open.devices[0]).not.toHaveProperty('releasable_bytes')
    expect(open.request?.outcome).toBe('maybe')
    expect(() => readSnapshot(Buffer.from('{"type":"oom","skipped":"too many blocks"}'))).toThrow('none, because "too many blocks"')
  })
})
