// Where GPUs are given by CDI: is a specification there, can it be read, and does it name the files of the driver that is loaded now?
import { defineCheck, type Finding } from '../../definition.ts'
import { CDI_FOLDERS, cdiNames, missingPaths, readCdiSpecs } from '../../parts/cdi.ts'
import { readToolkitConfig, toolkitMatters } from '../../parts/toolkit-files.ts'

const OUTPUT = '/etc/cdi/nvidia.yaml'
const generate = (path = OUTPUT) => ({
  text: 'Regenerate the specification, also after each driver update.',
  command: `sudo nvidia-ctk cdi generate --output=${path}`,
})

export const cdiSpecification = defineCheck({
  id: 'cdi-specification',
  group: 'toolkit',
  title: 'the CDI specification is there and fits the driver that is loaded',
  covers: ['gpu_not_visible', 'cuda_library_missing', 'nvml_driver_mismatch'],
  async run(around) {
    const ready = await toolkitMatters(around)
    if (typeof ready === 'string') return [{ status: 'skipped', summary: ready }]
    const { engine, distribution } = ready
    const containers = await around.containers().catch(() => [])
    const names = [...new Set(containers.flatMap(cdiNames))].filter((name) => name.startsWith('nvidia.com/'))
    const mode = (await readToolkitConfig(around.files).catch(() => undefined))?.get('nvidia-container-runtime.mode')
    const needed = names.length > 0 || mode === 'cdi' || (engine.kind === 'podman' && containers.some(({ wantsGpu }) => wantsGpu === 'asked'))
    const folders = engine.cdiSpecFolders ?? CDI_FOLDERS
    const specs = await readCdiSpecs(around.files, folders.length > 0 ? folders : CDI_FOLDERS)
    const level = needed ? 'fail' : 'warn'
    if (specs.length === 0) {
      if (!needed) return [{ status: 'skipped', summary: 'no container is given its GPU by CDI, and there is no specification' }]
      return [{ status: 'fail', summary: `expected a specification of nvidia.com/gpu in ${folders.join(' or ')}, found none`, remedies: [generate()] }]
    }
    const found: Finding[] = []
    for (const spec of specs) {
      const regenerate = [generate(spec.path.endsWith('.json') ? OUTPUT : spec.path)]
      if (spec.problem !== undefined) {
        found.push({ status: level, subject: spec.path, summary: `cannot be used: ${spec.problem}`, remedies: regenerate })
        continue
      }
      const missing = await missingPaths(around.files, spec)
      if (missing.length === 0) continue
      const shown = missing.slice(0, 3).join(', ')
      const more = missing.length > 3 ? ` and ${missing.length - 3} more` : ''
      found.push({
        status: level,
        subject: spec.path,
        summary: `names files that are not there (it was written for another driver or GPU): ${shown}${more}`,
        remedies: regenerate,
      })
    }
    const known = specs.flatMap(({ devices }) => devices)
    const unknown = names.filter((name) => !known.includes(name.slice(name.indexOf('=') + 1)))
    if (unknown.length > 0 && found.length === 0) {
      found.push({
        status: 'fail',
        summary: `containers ask for ${unknown.join(', ')}; the specification has ${known.slice(0, 12).join(', ')}`,
        remedies: [generate()],
      })
    }
    // WSL2 has one device for all GPUs.
    const gpus = distribution.wsl === 2 ? [] : ((await around.nvml().catch(() => undefined))?.gpus ?? [])
    const left = gpus.filter(({ index, uuid }) => !known.includes(String(index)) && !known.includes(uuid))
    if (left.length > 0 && found.length === 0 && !known.some((name) => name.includes(':') || name.startsWith('MIG-'))) {
      found.push({
        status: 'warn',
        summary: `GPU ${left.map(({ index }) => index).join(', ')} is not in the specification: it was written before that GPU came`,
        remedies: [generate()],
      })
    }
    return found.length > 0 ? found : [{ status: 'pass', summary: `${specs.map(({ path }) => path).join(', ')}: every file that it names is there` }]
  },
})
