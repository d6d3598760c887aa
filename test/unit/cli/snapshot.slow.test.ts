// `warpwatch snapshot` as an operator sees it: text, JSON, a picture, and one line for what is no snapshot.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { bytesOf, jitPickle } from '../allocator/snapshot/pickler.ts'
import { block, frames, free, GIB, MIB, segment, snapshot } from '../allocator/snapshot/scene.ts'
import { runCli } from './run-cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'warpwatch-snapshot-'))
let written = 0
function file(content: string | Uint8Array): string {
  written += 1
  const path = join(folder, `snapshot-${written}.pickle`)
  writeFileSync(path, content)
  return path
}
const escape = frames('empty', 'step\u001b[31m')
const value = snapshot([segment([block(3 * GIB, 'active_allocated', { frames: escape }), free(GIB), block(2 * GIB)]), segment([free(512 * MIB)])])
const whole = file(jitPickle(value))

describe('snapshot', () => {
  test('tells what holds the memory, how fragmented, what a request would meet, and what to change', async () => {
    const { code, stdout, stderr } = await runCli(['snapshot', whole, '--request', '1.5GiB', '--free=900MiB'])
    expect([code, stderr]).toEqual([0, ''])
    for (const said of [
      'Device 0: 6.5 GiB held by PyTorch',
      'Fragmented: 1 GiB (15 %)',
      'stranded    1 GiB  15 %',
      'cache     512 MiB   8 %',
      'default  0       large          2  6.5 GiB  5 GiB  1.5 GiB         1 GiB     512 MiB',
      '/home/me/train.py:11 step·[31m',
      'export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True',
      'A request of 1.5 GiB on device 0 fails: the largest free block is 1 GiB, the device has 900 MiB free and would have to give 1.5 GiB; a flush gives back 512 MiB.',
      'Not in this file:',
    ])
      expect(stdout).toContain(said)
    expect(stdout).not.toContain('\u001b')
  })

  test('--json: the figures and the picture; --svg: a file', async () => {
    const out = join(folder, 'picture.svg')
    const { code, stdout } = await runCli(['snapshot', '--json', '--svg', out, '--request', '2147483648', whole])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      format: 'pickle',
      expandable_segments: false,
      devices: [{ device: 0, reserved_bytes: 6.5 * GIB, stranded_bytes: GIB, live: { top: [{ bytes: 3 * GIB }, { bytes: 2 * GIB, frames: [] }] } }],
      request: { outcome: 'depends', needs_free_after_flush_bytes: 1.5 * GIB },
      picture: { runs: 4, pools: [{ segments: [{ runs: [[0, 0.5, 'allocated', 3 * GIB, 0, 0], expect.anything(), expect.anything()] }, expect.anything()] }] },
    })
    expect(readFileSync(out, 'utf8')).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"/)
  })

  test('JSON of the same shape is read as well', async () => {
    const { code, stdout } = await runCli(['snapshot', file(` \n${JSON.stringify(value)}`)])
    expect(code).toBe(0)
    expect(stdout).toContain('Device 0: 6.5 GiB held by PyTorch')
  })
})

describe('what is no snapshot costs one line and exit code 2', () => {
  const ASKED = 'not a snapshot: it must be a file of torch.cuda.memory._dump_snapshot'
  test.each([
    ['a file that is not there', () => join(folder, 'nothing'), 'cannot be read: ENOENT'],
    ['a folder', () => folder, 'is a directory'],
    ['a device that never ends', () => '/dev/zero', 'is no regular file'],
    ['an empty file', () => file(''), `${ASKED} (a pickle), or JSON of the same shape, not empty`],
    ['what torch.save writes', () => file(bytesOf('PK', 3, 4, 'more')), 'not a zip archive, such as torch.save writes'],
    [
      'what an old torch.save wrote',
      () => file(bytesOf(0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, '.')),
      'not what torch.save of an old PyTorch writes',
    ],
    ['a compressed one', () => file(gzipSync(jitPickle(value))), 'not a file compressed by gzip; unpack it first'],
    ['text', () => file('step 1 loss 2.0\n'), 'not text that begins with "step 1 loss 2.0\\n"'],
    ['other JSON', () => file('{"a":1}'), 'not a snapshot of torch.cuda.memory: must be a dict with "segments", not a dict with "a"'],
    ['half of some JSON', () => file(JSON.stringify(value).slice(0, 300)), 'not valid JSON: '],
    ['half a pickle', () => file(jitPickle(value).subarray(0, 500)), 'the pickle is truncated: the file ends at byte 500'],
    [
      'a pickle that runs code',
      () => file(bytesOf(0x80, 4, 'cos\nsystem\n(X', 2, 0, 0, 0, 'idtR.')),
      'refused: the opcode GLOBAL at byte 2 (os.system) runs code when it is unpickled',
    ],
    ['a segment without blocks', () => file(jitPickle([{ total_size: 5, segment_type: 'large' }])), 'segment 0: blocks must be a list'],
  ])('%s', async (_, path, said) => {
    const { code, stdout, stderr } = await runCli(['snapshot', path()])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(said)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })
  test.each([
    [['--request', 'much'], '--request: must be a size such as 2GiB, 500MB or 1048576, not "much"'],
    [['--request', '0'], '--request: must be a size'],
    [['--top', '0'], '--top: must be a whole number from 1 to 1000, not "0"'],
    [['--device', '7'], '--device: must be one of 0, not 7'],
    [['--svg', '/does/not/exist/x.svg'], '--svg: it cannot be written'],
  ])('%j', async (flags, said) => {
    const { code, stdout, stderr } = await runCli(['snapshot', whole, ...flags])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(said)
  })
})
