// May the user of each container write into the folders of its caches?
import { counted } from '../../../text/grammar.ts'
import { defineCheck } from '../../definition.ts'
import { cacheFolders } from '../../parts/cache-folders.ts'
import { mayWrite } from '../../container/process.ts'
import { complain, eachContainer, pass, recreate, skipped, type ContainerFinding } from '../../container/view.ts'
import { mountOf } from '../../parts/mount-table.ts'

export const containerCaches = defineCheck({
  id: 'container-caches',
  group: 'container',
  title: 'each container may write into its cache folders',
  covers: ['cache_permission'],
  run: async (around) =>
    await eachContainer(around, async (view) => {
      const { container } = view
      const [files, env, mounts, who] = [view.files(), await view.env(), await view.mounts(), await view.identity()]
      // A default folder matters only to those who would use it.
      const python = (await view.pythons()).length > 0
      const folders = cacheFolders(env).filter(({ set }) => set || python)
      if (folders.length === 0) return [skipped('no cache folder is set in it, and no Python is found that would have one')]
      const offline = /^(1|on|yes|true)$/i.test(env.get('HF_HUB_OFFLINE') ?? '')
      const found: ContainerFinding[] = []
      let [fine, readOnly] = [0, 0]
      for (const { by, path, models, set } of folders) {
        const verdict = await mayWrite(files, who, (real) => mountOf(mounts, real)?.readOnly ?? false, path)
        if (verdict === undefined) continue
        if (verdict.can) {
          fine++
          continue
        }
        // Models that are all there need no writing: a shared folder is mounted so on purpose.
        if (verdict.why === 'is mounted read-only' && models && (offline || ((await files.list(`${path}/hub`)) ?? (await files.list(path)) ?? []).length > 0)) {
          readOnly++
          continue
        }
        const source = container.mounts.find(({ destination }) => verdict.at === destination || verdict.at.startsWith(`${destination}/`))
        const target = source?.type === 'bind' ? source.source + verdict.at.slice(source.destination.length) : undefined
        const summary = `${by === 'HOME' ? path : `${by}=${path}`}: user ${who.uid} may not write there: ${verdict.at} ${verdict.why}`
        found.push(
          complain(set ? 'fail' : 'warn', summary, [
            ...(target === undefined || verdict.why === 'is mounted read-only'
              ? []
              : [
                  {
                    text: 'Give the folder of the host to the user that the container runs as.',
                    command: `sudo chown -R ${who.uid}:${who.gids[0] ?? who.uid} ${target}`,
                  },
                ]),
            ...(verdict.why === 'is mounted read-only'
              ? [{ text: 'Mount it without :ro, or set HF_HUB_OFFLINE=1 where all models are there already.' }]
              : [recreate(container, `--user ${verdict.uid}:${verdict.gid}`, `user: "${verdict.uid}:${verdict.gid}"`)]),
            {
              text: 'Or send the caches where its user may write.',
              command: 'export HF_HOME=/tmp/hf TRITON_CACHE_DIR=/tmp/triton TORCHINDUCTOR_CACHE_DIR=/tmp/inductor MPLCONFIGDIR=/tmp/mpl',
            },
          ]),
        )
      }
      if (found.length > 0) return found
      if (fine + readOnly === 0) return [skipped('who may write into its cache folders cannot be determined')]
      return [pass(`user ${who.uid} may write into ${counted(fine, 'cache folder')}${readOnly > 0 ? `; ${readOnly} with models is mounted read-only` : ''}`)]
    }),
})
