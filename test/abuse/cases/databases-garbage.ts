// Each database overwritten or cut in place, behind the agent's back, and the agent killed: what is broken is found at the next start.
import { closeSync, existsSync, openSync, readdirSync, statSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { AbuseCase } from '../abuse-case.ts'
import { samplesCome } from '../parts/sampling.ts'
import { startScene } from '../parts/scene.ts'

const DATABASES = ['history.db', 'incidents.db', 'outbox.db', 'maintenance.db', 'cursors.db'] as const
const PAGE = 4_096

const overwrite = (file: string): void => {
  const handle = openSync(file, 'r+')
  const { size } = statSync(file)
  for (let at = 0; at < size; at += PAGE) writeSync(handle, Buffer.alloc(Math.min(PAGE, size - at), 0xa5), 0, Math.min(PAGE, size - at), at)
  closeSync(handle)
}
const cut = (file: string): void => truncateSync(file, Math.floor(statSync(file).size / 3))

const garbage = (id: string, what: string, act: (file: string) => void, broken: number, hasShortForm: boolean): AbuseCase => ({
  id,
  area: 'storage',
  fault: `all ${DATABASES.length} databases and their logs are ${what} in place, then kill -9; twice`,
  promised: 'the agent starts, samples and notifies; what is broken is set aside and never over an earlier file; no crash, no endless retry',
  hasShortForm,
  besideOthers: true,
  async run({ short }) {
    await using scene = await startScene()
    const rounds = short ? 1 : 2
    const aside = (): number => readdirSync(scene.dataDir).filter((name) => /\.db\.broken-[^.]*$/.test(name) && !/-(wal|shm)$/.test(name)).length
    let [started, heard] = [0, 0]
    for (let round = 0; round < rounds; round++) {
      await samplesCome(scene.agent(), short ? 1 : 3)
      await scene.agent().kill()
      for (const name of DATABASES) for (const file of [join(scene.dataDir, name), join(scene.dataDir, `${name}-wal`)]) if (existsSync(file)) act(file)
      const agent = await scene.start()
      await samplesCome(agent, 1)
      started++
      scene.crash()
      await scene.allHeard({ listed: false })
      heard++
    }
    const found = aside()
    const ready = (await scene.agent().get('/readyz')).status
    return {
      held: started === rounds && heard === rounds && found >= broken * rounds && ready === 200,
      observed: `${started} of ${rounds} starts, ${heard} of ${rounds} new incidents delivered, ${found} files set aside under as many names`,
    }
  },
})

export const databasesGarbage = garbage('databases-garbage', 'overwritten with garbage', overwrite, DATABASES.length, true)
export const databasesCut = garbage('databases-cut', 'cut to a third', cut, 0, false)
