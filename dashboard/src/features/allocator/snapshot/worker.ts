// The worker that reads a snapshot file: it blocks nobody, nothing of the file leaves the browser, and ending it frees all that it took.
import { parseBytes } from '../../../../../agent/text/bytes.ts'
import type { FromWorker, Question, ToWorker } from './messages.ts'
import { answerTo, isRefusal, MOST_BYTES, openSnapshot, placeOfBlock, type Opened } from './report.ts'

let opened: Opened | undefined
const say = (message: FromWorker): void => postMessage(message)

async function open(file: File): Promise<void> {
  const began = performance.now()
  if (file.size > MOST_BYTES) {
    say({
      type: 'refused',
      why: `too large: ${Math.ceil(file.size / 2 ** 20)} MiB, and the browser reads at most ${MOST_BYTES / 2 ** 20} MiB: warpwatch snapshot FILE reads up to 2 GiB, or dump again with a smaller max_entries of _record_memory_history`,
    })
    return
  }
  try {
    opened = openSnapshot(new Uint8Array(await file.arrayBuffer()))
    say({ type: 'opened', report: { ...opened.report, tookMs: performance.now() - began } })
  } catch (error) {
    if (isRefusal(error)) say({ type: 'refused', why: error.message })
    else say({ type: 'refused', why: `this browser cannot read or hold the file: ${error instanceof Error ? error.message : 'an unknown error'}` })
  }
}

function ask(id: number, { request, free, device }: Question): void {
  const read = (field: 'request' | 'free', text: string, least: number): number | undefined => {
    const bytes = parseBytes(text)
    if (bytes !== undefined && bytes >= least) return bytes
    say({ type: 'unclear', id, field, why: `must be a size such as 2GiB, 500MB or 1048576, not ${JSON.stringify(text.slice(0, 40))}` })
    return undefined
  }
  if (opened === undefined) return
  const requestBytes = read('request', request, 1)
  if (requestBytes === undefined) return
  const deviceFreeBytes = free.trim() === '' ? null : read('free', free, 0)
  if (deviceFreeBytes === undefined) return
  say({ type: 'answer', id, answer: answerTo(opened, { requestBytes, device, ...(deviceFreeBytes === null ? {} : { deviceFreeBytes }) }) })
}

addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  if (data.type === 'open') void open(data.file)
  else if (data.type === 'ask') ask(data.id, data.question)
  else if (opened !== undefined) say({ type: 'place', block: data.block, place: placeOfBlock(opened, data.block) })
})
