// `warpwatch snapshot FILE`: where the memory of a PyTorch memory snapshot is, how fragmented, and what a request would meet.
import { closeSync, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { parseBytes } from '../../text/bytes.ts'
import { messageOf } from '../../text/error.ts'
import { UsageError, type Arguments, type Command } from '../command.ts'

function sizeFlag({ flags }: Arguments, name: string, least: number): number | undefined {
  const text = flags.get(name)
  if (typeof text !== 'string') return undefined
  const bytes = parseBytes(text)
  if (bytes === undefined || bytes < least)
    throw new UsageError(`snapshot: --${name}: must be a size such as 2GiB, 500MB or 1048576, not ${JSON.stringify(text)}`)
  return bytes
}

function numberFlag({ flags }: Arguments, name: string, least: number, most: number): number | undefined {
  const text = flags.get(name)
  if (typeof text !== 'string') return undefined
  const number = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  if (!(number >= least && number <= most))
    throw new UsageError(`snapshot: --${name}: must be a whole number from ${least} to ${most}, not ${JSON.stringify(text)}`)
  return number
}

function readWhole(file: string, mostBytes: number): Uint8Array {
  let descriptor: number | undefined
  try {
    descriptor = openSync(file, 'r')
    const stat = fstatSync(descriptor)
    if (!stat.isFile()) throw new Error(stat.isDirectory() ? `${file} is a directory` : `${file} is no regular file`)
    if (stat.size > mostBytes)
      throw new Error(`${file} has ${stat.size} bytes, more than ${mostBytes}; dump again with a smaller max_entries of _record_memory_history`)
    return readFileSync(descriptor)
  } catch (error) {
    throw new UsageError(`snapshot: the memory snapshot cannot be read: ${messageOf(error)}`, { cause: error })
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

export const snapshot: Command = {
  name: 'snapshot',
  summary: 'reads a PyTorch memory snapshot: who allocated the memory, how fragmented it is, whether a request would fit',
  positionals: ['FILE'],
  flags: {
    request: { kind: 'value', value: 'SIZE', help: 'say whether a request of this size would fit, such as 2GiB' },
    free: { kind: 'value', value: 'SIZE', help: 'free memory of the device (nvidia-smi); the file does not hold it' },
    device: { kind: 'value', value: 'N', help: 'the device of the request (default: the one that holds most)' },
    top: { kind: 'value', value: 'N', help: 'the N call sites with the most live memory (default: 10)' },
    svg: { kind: 'value', value: 'OUT', help: 'write a picture of the segments to OUT' },
    json: { kind: 'switch', help: 'print JSON, the picture included' },
  },
  async run(args, io) {
    const [requestBytes, deviceFreeBytes] = [sizeFlag(args, 'request', 1), sizeFlag(args, 'free', 0)]
    const [device, top] = [numberFlag(args, 'device', 0, 1023), numberFlag(args, 'top', 1, 1000)]
    const [{ readSnapshot, MAX_FILE_BYTES }, { SnapshotError }, { analyse }, { pictureOf }] = await Promise.all([
      import('../../allocator/snapshot/file.ts'),
      import('../../allocator/snapshot/error.ts'),
      import('../../allocator/snapshot/analyse.ts'),
      import('../../allocator/snapshot/picture.ts'),
    ])
    const file = args.positionals[0] ?? ''
    const bytes = readWhole(file, MAX_FILE_BYTES)
    const read = (): ReturnType<typeof readSnapshot> => {
      try {
        return readSnapshot(bytes)
      } catch (error) {
        if (error instanceof SnapshotError) throw new UsageError(`snapshot: ${file}: ${error.message}`, { cause: error })
        throw error
      }
    }
    const found = read()
    const { analysis, rules, rankOf } = analyse(found, {
      ...(requestBytes === undefined ? {} : { requestBytes }),
      ...(deviceFreeBytes === undefined ? {} : { deviceFreeBytes }),
      ...(device === undefined ? {} : { device }),
      ...(top === undefined ? {} : { top }),
    })
    const out = args.flags.get('svg')
    if (device !== undefined && analysis.devices.length > 0 && !analysis.devices.some((one) => one.device === device))
      throw new UsageError(`snapshot: --device: must be one of ${analysis.devices.map((one) => one.device).join(', ')}, not ${device}`)
    if (typeof out === 'string') {
      if (found.segments.length === 0) throw new UsageError('snapshot: --svg: the snapshot has no segments, so there is nothing to draw')
      const { svgOf } = await import('../../allocator/snapshot/svg.ts')
      try {
        writeFileSync(out, svgOf(pictureOf({ snapshot: found, rules, rankOf }), analysis.devices, basename(file)))
      } catch (error) {
        throw new UsageError(`snapshot: --svg: it cannot be written: ${messageOf(error)}`, { cause: error })
      }
    }
    if (args.flags.has('json')) io.out(`${JSON.stringify({ ...analysis, picture: pictureOf({ snapshot: found, rules, rankOf }) })}\n`)
    else {
      const { answerText } = await import('./answer.ts')
      io.out(answerText(analysis, basename(file), process.stdout.isTTY && (io.env['NO_COLOR'] ?? '') === ''))
    }
    return 0
  },
}
