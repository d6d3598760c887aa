// `node FLAGS dist/warm-up.js`, when Warpwatch was built or installed: starts an agent with simulated GPUs, has it scraped once, and keeps what V8 compiled for the starts to come.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import v8 from 'node:v8'
import { gpuMemoryUsedBytes } from '../../metrics/gpu-memory.ts'
import { whenLoaded, writeCompiled, type LoadedScript } from '../../lib/script-file.ts'

const ASK_EVERY_MS = 50

async function scrape(url: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  get(url, (answer) => void text(answer).then(resolve, reject)).on('error', reject)
  return promise
}

async function untilSampled(url: string): Promise<void> {
  while (!(await scrape(`${url}/metrics`)).includes(`\n${gpuMemoryUsedBytes.name}{`)) await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS))
}

const folder = mkdtempSync(join(tmpdir(), 'warpwatch-warm-up-'))
process.chdir(folder)
const config = join(folder, 'empty.yaml')
writeFileSync(config, '')
const scripts: LoadedScript[] = []
whenLoaded((loaded) => scripts.push(loaded))
// The agent changes a flag of V8 once it runs; what is kept under it would be refused at the next start.
v8.setFlagsFromString = () => {}
try {
  const { run } = await import('./run.ts')
  let said = ''
  let asked: Promise<void> | undefined
  const flags = new Map([
    ['config', config],
    ['data-dir', join(folder, 'data')],
    ['listen', '127.0.0.1:0'],
    ['simulate', 'healthy'],
  ])
  const code = await run.run(
    { flags, positionals: [] },
    {
      out: () => {},
      err: (line) => {
        said += line
        const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0]
        if (url !== undefined) asked ??= untilSampled(url).finally(() => process.kill(process.pid, 'SIGTERM'))
      },
      env: {},
      cwd: folder,
    },
  )
  await asked
  if (code !== 0) throw new Error(said)
  scripts.forEach(writeCompiled)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
