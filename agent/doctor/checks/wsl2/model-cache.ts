// Do the models of this host lie on Linux' disk, or below /mnt, where each read goes through Windows?
import { cacheFolders } from '../../parts/cache-folders.ts'
import { defineCheck, type Finding } from '../../definition.ts'
import { mountOf, parseMounts } from '../../parts/mount-table.ts'
import { skipped } from '../../parts/nvidia-pci.ts'
import { readWindows, wsl2Guest } from '../../parts/wsl-guest.ts'

/** How WSL mounts Windows' drives: by plan 9, or by virtiofs where .wslconfig asks for it. */
const WINDOWS = ['9p', 'drvfs', 'virtiofs']

export const wsl2ModelCache = defineCheck({
  id: 'wsl2-model-cache',
  group: 'wsl2',
  title: "models are on Linux' disk, not on a drive of Windows",
  covers: ['input_bound'],
  async run(around) {
    const where = await wsl2Guest(around)
    if ('skip' in where) return where.skip
    const { files } = around
    const env = new Map(Object.entries(around.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])))
    const folders = cacheFolders(env).filter(({ models }) => models)
    if (folders.length === 0) return skipped('no variable and no home folder says where models are')
    const { mounts } = await readWindows(files)
    const table = parseMounts((await files.readText('/proc/self/mountinfo', 2 ** 20)) ?? '')
    const findings: Finding[] = []
    for (const { by, path, set } of folders) {
      const real = (await files.realpath(path).catch(() => undefined)) ?? path
      const onDrive = real.startsWith(mounts) && /^[a-z](?:\/|$)/.test(real.slice(mounts.length))
      if (!onDrive && !WINDOWS.includes(mountOf(table, real)?.type ?? '')) continue
      findings.push({
        status: 'warn',
        subject: path,
        summary: `${set ? by : 'the default'} leads to a drive of Windows: loading models from there takes many times as long`,
        remedies: [
          { text: "Copy the models to Linux' disk, once.", command: `mkdir -p ~/models && cp -r '${real}/.' ~/models/` },
          {
            text: `Let ${set ? by : 'HF_HOME'} name that folder, where it is set now (mostly ~/.bashrc, or the unit of the service).`,
            command: `export ${set ? by : 'HF_HOME'}=$HOME/models`,
          },
        ],
      })
    }
    return findings.length > 0 ? findings : [{ status: 'pass', summary: `${folders.map(({ path }) => path).join(', ')}: on Linux' own disk` }]
  },
})
