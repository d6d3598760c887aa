// Explains logs beside the page: the agent's own families of faults, run in the browser, so that a log leaves neither page nor host.
import { messageOf } from '../../../../../agent/text/error.ts'
import { explainStream } from '../../../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../../../agent/diagnosis/log-scanner.ts'
import { createLogReader, notTextOf } from './log-reader.ts'
import type { Answer, FromWorker, ToWorker } from './messages.ts'

/** The library of types for workers cannot be beside the page's. */
declare class FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer
}

const reader = new FileReaderSync()
const say = (message: FromWorker): void => postMessage(message)

function explain(log: Blob): Answer {
  const read = (from: number, to: number): Uint8Array => new Uint8Array(reader.readAsArrayBuffer(log.slice(from, to)))
  const pieces = createLogReader(log.size, read, (bytes) => say({ type: 'progress', bytes }))
  const faults = explainStream(logScanner(), pieces.pieces())
  const marked = faults.flatMap(({ evidence }) => evidence.map(({ line }) => line))
  return { faults, lineCount: pieces.lineCount(), lines: pieces.linesAround(marked), notText: notTextOf(read(0, Math.min(log.size, 8))) }
}

addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  try {
    say({ type: 'answer', answer: explain(data) })
  } catch (error) {
    // The file was changed, moved or is no longer allowed to be read.
    say({ type: 'failed', why: messageOf(error) })
  }
})
