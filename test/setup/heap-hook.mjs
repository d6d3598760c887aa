// Loaded into an agent by test/setup/heap.ts: on SIGUSR2 it collects garbage and writes how many bytes of its heap are left, `BYTES\n`, as the next file of HEAP_FOLDER.
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc')
let weighed = 0

process.on('SIGUSR2', () => {
  gc()
  // What finalizers let go of goes with a second one.
  setImmediate(() => {
    gc()
    const path = join(process.env.HEAP_FOLDER, `${process.pid}-${weighed++}`)
    writeFileSync(`${path}.part`, `${process.memoryUsage().heapUsed}\n`)
    renameSync(`${path}.part`, path)
  })
})
