// Do the models of each container lie on storage that is fast, stays, and has room?
import { GIB, diskText } from '../../../text/bytes.ts'
import { defineCheck } from '../../definition.ts'
import { cacheFolders } from '../../parts/cache-folders.ts'
import { complain, eachContainer, pass, recreate, skipped, type ContainerFinding } from '../../container/view.ts'
import { mountOf } from '../../parts/mount-table.ts'

/** Weights of 7 billion parameters in 16 bits are 14 GB. */
const [LOW, FULL] = [20 * GIB, 2 * GIB]
/** Each read of these goes through another program or another system: loading a model takes many times as long. */
const SLOW: Readonly<Record<string, string>> = {
  '9p': "a folder of Windows (WSL2's /mnt)",
  drvfs: "a folder of Windows (WSL2's /mnt)",
  cifs: 'a Windows share',
  smb3: 'a Windows share',
  vboxsf: 'a shared folder of VirtualBox',
  fakeowner: "a folder of Docker Desktop's host",
  'fuse.sshfs': 'a folder over SSH',
  'fuse.grpcfuse': "a folder of Docker Desktop's host",
}
/** What Docker Desktop and WSL2 call the drives of Windows. */
const WINDOWS = /^(?:\/run\/desktop\/mnt\/host|\/host_mnt|\/mnt)\/[a-z](?:\/|$)/

export const containerModelStorage = defineCheck({
  id: 'container-model-storage',
  group: 'container',
  title: "each container's models are on storage that is fast, permanent, and large enough",
  covers: ['disk_full', 'input_bound'],
  async run(around) {
    const wsl = (await around.distribution()).wsl !== 0
    return await eachContainer(around, async (view) => {
      const { container } = view
      const env = await view.env()
      const folders = cacheFolders(env).filter(({ models }) => models)
      const found: ContainerFinding[] = []
      const move = (path: string) => [
        {
          text: 'Keep models on a disk of Linux: copy them there once (under WSL2 below your home, not below /mnt).',
          command: 'mkdir -p ~/models && cp -r /mnt/c/PATH/TO/MODELS/. ~/models/',
        },
        recreate(container, `-v $HOME/models:${path}`, `volumes: ["~/models:${path}"]`),
      ]
      if (container.files === undefined) {
        const bound = container.mounts.filter(
          ({ source }) => WINDOWS.test(source) && (wsl || source.startsWith('/run/desktop') || source.startsWith('/host_mnt')),
        )
        for (const { source, destination } of bound)
          found.push(complain('warn', `${destination} is ${source}, a folder of Windows: loading models from it takes many times as long`, move(destination)))
        return found.length > 0 ? found : [skipped('where its models are can only be seen while it runs on this host')]
      }
      const [files, mounts] = [container.files, await view.mounts()]
      for (const { path } of folders) {
        const real = await files.realpath(path).catch(() => undefined)
        const mount = mountOf(mounts, real ?? path)
        if (mount === undefined) continue
        const slow = SLOW[mount.type]
        if (slow !== undefined) {
          found.push(complain('warn', `${path} is on ${mount.type}, ${slow}: loading models from it takes many times as long`, move(path)))
          continue
        }
        if (real === undefined) continue
        const names = (await files.list(`${real}/hub`)) ?? (await files.list(real)) ?? []
        const models = names.filter((name) => name.startsWith('models--')).length
        if (mount.type === 'overlay' && mount.point === '/' && models > 0) {
          found.push(
            complain('warn', `${path} has ${models} models inside the container itself: they are gone with it, and the next one downloads them again`, [
              recreate(container, `-v hf-cache:${path}`, `volumes: ["hf-cache:${path}"]   # and below the top-level volumes: {hf-cache: {}}`),
            ]),
          )
        }
        const space = mount.readOnly ? undefined : await files.space(real)
        if (space !== undefined && space.availableBytes < LOW) {
          const left = diskText(space.availableBytes)
          found.push(
            complain(space.availableBytes < FULL ? 'fail' : 'warn', `${path} has ${left} left: downloads of models end with "No space left on device"`, [
              {
                text: 'See which models take the space, and remove those that are not needed.',
                command: `${container.engine.kind} exec ${container.name} hf cache ls`,
              },
              { text: 'Remove images, containers and build caches that nothing uses.', command: `${container.engine.kind} system prune` },
            ]),
          )
        }
      }
      if (found.length > 0) return found
      return [
        folders.length === 0
          ? skipped('it names no folder for models')
          : pass(`${folders.map(({ path }) => path).join(', ')}: no slow mount, and space for models`),
      ]
    })
  },
})
