// Nothing that the built agent writes can be read by anybody else: as root and as another user, new and over what an earlier version left.
import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startAgent } from '../setup/agent.ts'
import { NOBODY, nobodyMissing } from '../setup/nobody.ts'
import { poll } from '../setup/poll.ts'
import { startReceiver } from '../setup/receiver.ts'

const root = process.getuid?.() === 0
/** What is wider than its owner alone, and what it is. */
const wide = (directory: string): readonly string[] =>
  ['', ...readdirSync(directory, { recursive: true, encoding: 'utf8' })]
    .map((name) => [name, lstatSync(join(directory, name)).mode] as const)
    .filter(([, mode]) => (mode & 0o077) !== 0)
    .map(([name, mode]) => `${name} ${(mode & 0o7777).toString(8)}`)

/** History, incidents, an outbox, cursors and a recording, all in one directory. */
async function run(dataDir: string, uid: number | undefined, isFirst: boolean): Promise<string> {
  const receiver = await startReceiver()
  const hot = '[{"name":"warm","metric":"gpu_temperature_celsius","comparison":">","value":1,"for":"0s","severity":"warning"}]'
  const env = { WARPWATCH_NOTIFIERS: `[{"name":"ops","type":"webhook","url":"${receiver.url}/"}]`, WARPWATCH_DETECTORS__CUSTOM: hot }
  const args = ['run', '--simulate', '--record', join(dataDir, 'recording.jsonl')]
  const agent = await startAgent({ args, dataDir, env, ...(uid === undefined ? {} : { uid }) })
  // The second time everybody was told already.
  if (isFirst) await receiver.until(() => receiver.requests.length > 0)
  await poll(async () => (await agent.metrics()).value('warpwatch_agent_history_bytes') !== undefined, { what: 'history on disk' })
  expect(wide(dataDir)).toEqual([])
  const { stderr } = await agent.terminate()
  await receiver.close()
  return stderr
}

describe.each<readonly [string, number | undefined, boolean]>([
  [root ? 'root' : 'this user', undefined, true],
  ['another user', NOBODY, nobodyMissing === undefined],
])('as %s', (_, uid, can) => {
  test.skipIf(!can)(`every file is private, also those that were not${can ? '' : ` (${nobodyMissing})`}`, async () => {
    const home = mkdtempSync(join(tmpdir(), 'warpwatch-private-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    chmodSync(home, 0o755)
    const dataDir = join(home, 'data')
    mkdirSync(dataDir, { mode: 0o750 })
    if (uid !== undefined) chownSync(dataDir, uid, uid)
    await run(dataDir, uid, true)
    expect(wide(dataDir)).toEqual([])
    const names = readdirSync(dataDir)
    expect(names).toEqual(expect.arrayContaining(['history.db', 'incidents.db', 'outbox.db', 'cursors.db', 'maintenance.db', 'lock.db', 'recording.jsonl']))
    // As the version before this one left them; a recording is no file of the data directory, so it is moved out of the way.
    rmSync(join(dataDir, 'recording.jsonl'))
    for (const name of readdirSync(dataDir)) chmodSync(join(dataDir, name), 0o644)
    chmodSync(dataDir, 0o750)
    expect(await run(dataDir, uid, false)).toContain('mode 0750 made 0700')
    expect(wide(dataDir)).toEqual([])
  })
})
