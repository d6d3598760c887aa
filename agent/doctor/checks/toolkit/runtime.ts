// Does the engine know how to give GPUs to containers: the NVIDIA runtime, its hook, or CDI?
import { messageOf } from '../../../text/error.ts'
import { defineCheck, type Finding } from '../../definition.ts'
import { CDI_FOLDERS, cdiNames, readCdiSpecs } from '../../parts/cdi.ts'
import { DAEMON_CONFIG, enterRuntime, restartEngine, toolkitMatters } from '../../parts/toolkit-files.ts'

type DaemonConfig = { readonly kind: 'broken'; readonly why: string } | { readonly kind: 'read'; readonly hasRuntime: boolean }

function parseDaemonConfig(text: string | undefined): DaemonConfig {
  if (text === undefined || text.trim() === '') return { kind: 'read', hasRuntime: false }
  try {
    const value: unknown = JSON.parse(text)
    const runtimes = typeof value === 'object' && value !== null && 'runtimes' in value ? value.runtimes : undefined
    return { kind: 'read', hasRuntime: typeof runtimes === 'object' && runtimes !== null && 'nvidia' in runtimes }
  } catch (error) {
    return { kind: 'broken', why: messageOf(error) }
  }
}

export const toolkitRuntime = defineCheck({
  id: 'toolkit-runtime',
  group: 'toolkit',
  title: 'the container engine knows the NVIDIA runtime, or takes GPUs by CDI',
  covers: ['gpu_not_visible'],
  async run(around) {
    const ready = await toolkitMatters(around)
    if (typeof ready === 'string') return [{ status: 'skipped', summary: ready }]
    const { engine } = ready
    if (engine.kind === 'podman') return [{ status: 'skipped', summary: 'Podman needs no runtime: it takes GPUs by CDI (see cdi-specification)' }]
    const say = (status: Finding['status'], summary: string, ...remedies: NonNullable<Finding['remedies']>): readonly Finding[] => [
      { status, summary, remedies },
    ]
    const runtime = engine.runtimes.get('nvidia')
    if (runtime !== undefined) {
      const gone = runtime.startsWith('/') && !(await around.files.exists(runtime))
      if (!gone)
        return say('pass', engine.defaultRuntime === 'nvidia' ? 'the runtime nvidia is registered, and the default' : 'the runtime nvidia is registered')
      return say('fail', `Docker's runtime nvidia is ${runtime}, and no such file is there`, enterRuntime(engine))
    }
    // A rootless engine's file is in its user's home.
    const config = engine.rootless ? parseDaemonConfig(undefined) : parseDaemonConfig(await around.files.readText(DAEMON_CONFIG))
    if (config.kind === 'broken') {
      const text = 'Fix the JSON (mostly a missing or trailing comma): Docker does not start with this file. See what is wrong with:'
      return say('fail', `${DAEMON_CONFIG} is not valid JSON: ${config.why}`, { text, command: `python3 -m json.tool ${DAEMON_CONFIG}` })
    }
    if (config.hasRuntime) {
      const text = 'Restart Docker, so that it reads its configuration (containers without a restart policy stop and must be started again).'
      return say('fail', `${DAEMON_CONFIG} has the runtime nvidia, but Docker was not restarted since`, { text, command: restartEngine(engine) })
    }
    const containers = (await around.containers().catch(() => [])).filter(({ wantsGpu }) => wantsGpu === 'asked')
    const byCdi = containers.length > 0 && containers.every((container) => cdiNames(container).length > 0)
    const cdi = (engine.cdiDevices ?? []).some((name) => name.startsWith('nvidia.com/gpu='))
    if (cdi || byCdi) return say('pass', 'the runtime nvidia is not registered; GPUs are given by CDI')
    const hook = await around.run('nvidia-container-runtime-hook', ['--version'])
    const specs = await readCdiSpecs(around.files, engine.cdiSpecFolders ?? CDI_FOLDERS)
    if (hook.kind !== 'missing' || specs.length > 0) {
      return say(
        'pass',
        `the runtime nvidia is not registered: ${hook.kind === 'missing' ? '--device nvidia.com/gpu=all' : '--gpus all'} works without it, --runtime=nvidia does not`,
      )
    }
    return say(
      containers.length > 0 ? 'fail' : 'warn',
      'Docker knows no runtime nvidia, and neither its hook nor a CDI specification is there',
      enterRuntime(engine),
    )
  },
})
