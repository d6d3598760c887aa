// Databases that a newer Warpwatch wrote, as after a step back to an older version.
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { messageOf } from '../../../agent/text/error.ts'
import type { AbuseCase } from '../abuse-case.ts'
import { samplesCome } from '../parts/sampling.ts'
import { startScene } from '../parts/scene.ts'

const NEWER = 99

export const databasesNewer: AbuseCase = {
  id: 'databases-newer',
  area: 'storage',
  fault: 'the databases were written by a newer version',
  promised: 'incidents and notifications go on in memory, with a history the agent refuses to start; both say which versions they are, and no file is touched',
  hasShortForm: true,
  besideOthers: true,
  async run() {
    await using scene = await startScene()
    const version = (name: string, set?: number): unknown => {
      const db = new Sqlite(join(scene.dataDir, name), { timeout: 5_000 })
      try {
        if (set !== undefined) db.pragma(`user_version = ${set}`)
        return db.pragma('user_version', { simple: true })
      } finally {
        db.close()
      }
    }
    await samplesCome(scene.agent(), 1)
    await scene.agent().kill()
    for (const name of ['incidents.db', 'outbox.db']) version(name, NEWER)
    const agent = await scene.start()
    scene.crash()
    await scene.allHeard()
    const said = agent.stderr().match(/has (?:incidents|an outbox) of schema version 99, this Warpwatch knows versions up to 1:/g)?.length ?? 0
    await agent.kill()
    version('history.db', NEWER)
    let refused = 'started'
    try {
      await scene.start()
    } catch (error) {
      refused =
        /history\.db has history of schema version 99, this Warpwatch knows versions up to \d+/.exec(messageOf(error)) === null
          ? messageOf(error)
          : 'refused with both versions'
    }
    const untouched = ['incidents.db', 'outbox.db', 'history.db'].filter((name) => version(name) === NEWER).length
    return {
      held: said === 2 && refused === 'refused with both versions' && untouched === 3,
      observed: `0 of 1 incidents lost; ${said} of 2 said so; with the history: ${refused}; ${untouched} of 3 files untouched`,
    }
  },
}
