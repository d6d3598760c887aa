// Can each container that was given a GPU reach it: device nodes, device cgroup, and the driver's libraries of the version that is loaded?
import { basename, join } from 'node:path'
import { parseCgroupLines } from '../../../attribution/cgroup-path.ts'
import { minorOfPath } from '../../../sources/containers/gpu-request.ts'
import { allowedBy, CONTROL, parseRules } from '../../../sources/device-access/probe.ts'
import { defineCheck, type Surroundings } from '../../definition.ts'
import { complain, eachContainer, pass, skipped, type ContainerFinding, type ContainerLook } from '../../container/view.ts'
import type { DoctorContainer } from '../../parts/containers.ts'

const again = ({ engine, name }: DoctorContainer) => ({
  text: 'Let the work in it save its state, then restart it: it gets its devices and libraries again.',
  command: `${engine.kind} restart ${name}`,
})
const MODULE = /NVRM version:.*?\s(\d{3,4}\.\d+(?:\.\d+)?)\s/

/** `denied`: minors that its rules refuse; undefined: they cannot be read (cgroup v2). */
async function deniedMinors({ files, config }: Surroundings, pid: number, minors: readonly number[]): Promise<readonly number[] | undefined> {
  const line = parseCgroupLines((await files.readText(`/proc/${pid}/cgroup`)) ?? '').find(({ controllers }) => controllers.includes('devices'))
  // A path seen from another namespace must never be joined to a mount.
  if (line === undefined || line.path.split('/').includes('..')) return undefined
  const text = await files.readText(join(config.containers.cgroup_root, 'devices', line.path, 'devices.list'))
  if (text === undefined) return undefined
  const box = { rules: parseRules(text) }
  return minors.filter((minor) => allowedBy(box, minor) === false)
}

function lookWith(around: Surroundings, wsl: boolean, driver: string | undefined): ContainerLook {
  return async (view) => {
    const { container } = view
    const files = view.files()
    const findings: ContainerFinding[] = []
    const dev = (await files.list('/dev')) ?? []
    // Monitors are given NVML alone, and need neither memory nor CUDA.
    const given = (await view.env()).get('NVIDIA_DRIVER_CAPABILITIES') ?? ''
    const computes = given === '' || given.includes('compute') || given.includes('all')
    if (wsl) {
      if (!dev.includes('dxg')) return [complain('fail', 'expected /dev/dxg in it, found none: it sees no GPU', [again(container)])]
    } else {
      const nodes: string[] = []
      for (const name of dev.filter((one) => /^nvidia(\d+|ctl|-uvm)$/.test(one))) {
        if ((await files.lstat(`/dev/${name}`))?.kind === 'character device') nodes.push(name)
      }
      const minors = nodes.flatMap((name) => minorOfPath(name) ?? [])
      if (minors.length === 0) return [complain('fail', 'expected /dev/nvidia0 or another GPU in it, found none: it sees no GPU', [again(container)])]
      if (!nodes.includes('nvidiactl'))
        findings.push(complain('fail', 'expected /dev/nvidiactl in it, found none: NVML and CUDA cannot start', [again(container)]))
      if (computes && !nodes.includes('nvidia-uvm')) {
        const load = {
          text: 'Load the memory module on the host (it is not loaded before something uses CUDA), then restart the container.',
          command: `sudo nvidia-modprobe -u -c=0 && ${container.engine.kind} restart ${container.name}`,
        }
        findings.push(complain('fail', 'expected /dev/nvidia-uvm in it, found none: nvidia-smi works, CUDA does not (error 999 or no device)', [load]))
      }
      const denied = container.pid === undefined || container.privileged ? [] : await deniedMinors(around, container.pid, [...minors, CONTROL.minor])
      if (denied !== undefined && denied.length > 0) {
        const prevent = {
          text: 'So that it does not come again (systemctl daemon-reload takes devices away that systemd does not know):',
          command: 'sudo nvidia-ctk system create-dev-char-symlinks --create-all',
        }
        findings.push(
          complain('fail', `its device cgroup refuses ${denied.map((minor) => `195:${minor}`).join(', ')}: NVML says Unknown Error`, [
            again(container),
            prevent,
          ]),
        )
      }
    }
    const libraries = await view.libraries()
    const nvml = await libraries.find('libnvidia-ml.so.1')
    const cuda = await libraries.find('libcuda.so.1')
    // WSL's library only passes on to that of Windows, whose number is another.
    const real = nvml === undefined || wsl ? undefined : await files.realpath(nvml)
    const theirs = /\.so\.(\d{3,4}\.\d+(?:\.\d+)?)$/.exec(basename(real ?? ''))?.[1]
    if (theirs !== undefined && driver !== undefined && theirs !== driver) {
      findings.push(
        complain(
          'fail',
          `its driver libraries are ${theirs}, the loaded driver is ${driver} (Driver/library version mismatch): the driver was updated under it`,
          [again(container)],
        ),
      )
    }
    if (computes && cuda === undefined) {
      const grant = {
        text: 'NVIDIA_DRIVER_CAPABILITIES must have compute, and the image a glibc (musl images such as Alpine get no driver libraries). See what the loader knows:',
        command: `${container.engine.kind} exec ${container.name} ldconfig -p | grep -E 'libcuda|libnvidia-ml'`,
      }
      findings.push(complain('warn', 'libcuda.so.1 is not where its loader looks: CUDA programs do not start', [grant, again(container)]))
    }
    if (findings.length > 0) return findings
    return [
      pass(
        `sees the GPU${nvml === undefined ? '' : `, NVML${theirs === undefined ? '' : ` ${theirs}`}`}${cuda === undefined ? '' : ' and CUDA'} of the driver`,
      ),
    ]
  }
}

export const containerGpuReachable = defineCheck({
  id: 'container-gpu-reachable',
  group: 'container',
  title: 'each container can open the GPU that it was given',
  covers: ['container_lost_gpu', 'nvml_unknown_error', 'gpu_not_visible', 'nvml_driver_mismatch'],
  async run(around) {
    const wsl = (await around.distribution()).wsl === 2
    const driver = MODULE.exec((await around.files.readText('/proc/driver/nvidia/version').catch(() => undefined)) ?? '')?.[1]
    const look = lookWith(around, wsl, driver)
    return await eachContainer(around, async (view) =>
      view.container.state === 'running' ? await look(view) : [skipped(`it is ${view.container.state || 'not running'}`)],
    )
  },
})
