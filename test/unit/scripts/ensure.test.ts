// The first step of `npm start` where the caller's Node is too old and the repository brings none: refused before anything is installed.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const root = join(import.meta.dirname, '../../..')

/** `npm start` in a clone without packages, on a machine of that kind, where npm is not in PATH. */
function start(arch: string, version: string) {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-ensure-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const name of ['scripts', 'package.json', 'package-lock.json']) cpSync(join(root, name), join(folder, name), { recursive: true })
  const pretend = join(folder, 'pretend.cjs')
  writeFileSync(
    pretend,
    `Object.defineProperty(process, 'arch', { value: '${arch}' })\nObject.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })\n`,
  )
  const run = spawnSync(process.execPath, ['--require', pretend, join(folder, 'scripts/start.mjs')], { encoding: 'utf8', env: { PATH: folder } })
  return { ...run, installed: existsSync(join(folder, 'node_modules')) }
}

test.each(['18.20.4', '20.20.2', '22.9.0', '22.17.9'])('Node %s on riscv64 is refused', (version) => {
  const { status, stderr, installed } = start('riscv64', version)
  expect(stderr).toBe(
    `warpwatch: Node >= 22.18 is needed, this is ${version}, and the repository brings a Node for Linux on x64 and arm64 with glibc only. Install a newer one and put it first in PATH.\n`,
  )
  expect([status, installed]).toEqual([2, false])
})

test.each([
  ['arm64', '22.18.0', ['installing packages']],
  ['arm64', '24.0.0', ['installing packages']],
  ['x64', '24.0.0', ['installing packages']],
  ['arm64', '18.20.4', ['this is Node 18.20.4: fetching a newer one']],
  ['x64', '18.20.4', ['this is Node 18.20.4: fetching a newer one']],
])('%s with Node %s: %j', (arch, version, steps) => {
  const { status, stderr } = start(arch, version)
  const lines = stderr.trimEnd().split('\n')
  // And no step after the one that needs npm.
  expect(lines).toEqual([...steps.map((step) => expect.stringContaining(step)), 'warpwatch: npm cannot be run: spawn npm ENOENT'])
  expect(status).toBe(2)
})
