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
/** Whoever installs waits for it. */
const LONGEST_MS = 30_000

async function scrape(url: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  get(url, (answer) => void text(answer).then(resolve, reject)).on('error', reject)
  return promise
}

/** Whether it has shown its GPUs. Never rejects. */
async function isSampled(url: string): Promise<boolean> {
  const end = performance.now() + LONGEST_MS
  while (performance.now() < end) {
    const page = await scrape(`${url}/metrics`).catch(() => '')
    if (page.includes(`\n${gpuMemoryUsedBytes.name}{`)) return true
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS))
  }
  return false
}

const folder = mkdtempSync(join(tmpdir(), 'warpwatch-warm-up-'))
process.chdir(folder)
const config = join(folder, 'empty.yaml')
writeFileSync(config, '')
// Of an agent that never says where it serves, or does not stop.
setTimeout(() => {
  rmSync(folder, { recursive: true, force: true })
  process.exit(1)
}, 2 * LONGEST_MS).unref()
const scripts: LoadedScript[] = []
whenLoaded((loaded) => scripts.push(loaded))
// The agent changes a flag of V8 once it runs; what is kept under it would be refused at the next start.
v8.setFlagsFromString = () => {}
try {
  const { run } = await import('./run.ts')
  let said = ''
  let asked: Promise<boolean> | undefined
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
        if (url !== undefined) asked ??= isSampled(url).finally(() => process.kill(process.pid, 'SIGTERM'))
      },
      // A start compiles what a moment of the past needs as well as fifteen minutes of it do.
      env: { WARPWATCH_SIMULATE__PAST: '10s' },
      cwd: folder,
    },
  )
  if (code !== 0 || (await asked) !== true) throw new Error(`no reading within ${LONGEST_MS / 1_000} s; the agent said: ${said}`)
  scripts.forEach(writeCompiled)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
