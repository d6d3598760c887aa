// Lets the NVIDIA GPU of a laptop sleep: an open NVML handle keeps it awake, and a question wakes it. Decides from the kernel's files when NVML may be used.
import { isFailure, type Files, type Roots } from '../../drm/files.ts'

export type RuntimeSleep = {
  /** Asked each second: whether NVML may be used now. Where no GPU can sleep the answer is always yes. */
  readonly mayRead: (nowMs: number) => boolean
  /** What NVML said of a GPU: whether it works or holds memory of a program, and which processes only draw with it. */
  readonly sampled: (nowMs: number, busy: boolean, drawing: readonly number[]) => void
  /** PCI addresses of the GPUs that are suspended now. */
  readonly suspended: () => readonly string[]
}

/** So long must a GPU do nothing before NVML is closed. */
const IDLE_MS = 30_000
/** The driver suspends a GPU some seconds after the last handle; one that stays awake for so long does not sleep, or is in use. */
const STAYS_AWAKE_MS = 60_000
/** Awake again without us: what only looks at the bus (lspci) is over by then. Who opens the GPU is seen at once. */
const WOKEN_MS = 15_000
/** A GPU that did not sleep is given the next chance later, each time twice as late. */
const [RETRY_MS, RETRY_MOST_MS] = [120_000, 1_800_000]
const LOOK_AROUND_MS = 600_000
const HOLDERS_EVERY_MS = 2_000

const OF_AGENT = /^(?:nvml:|card:|warpwatch)/
/** Keeps the driver loaded and is no use of the GPU. */
const DAEMON = 'nvidia-persiste'

const textOr = (files: Files, path: string): string => {
  const text = files.text(path)
  return isFailure(text) ? '' : text.trim()
}

/** The NVIDIA GPUs, if the kernel may suspend each of them and has done so, or the driver says that it can. */
function sleepers(files: Files, { sys, proc }: Roots): readonly string[] {
  const root = `${sys}/bus/pci/devices`
  const gpus = files
    .list(root)
    .filter((slot) => textOr(files, `${root}/${slot}/vendor`) === '0x10de' && /^0x030[02]/.test(textOr(files, `${root}/${slot}/class`)))
  const canSleep = (slot: string): boolean => {
    const power = `${root}/${slot}/power`
    if (textOr(files, `${power}/control`) !== 'auto') return false
    // "Runtime D3 status:          Enabled (fine-grained)"; desktop cards say "Not supported" or "Disabled by default".
    const runtimeD3 = /^Runtime D3 status:\s*(\w+)/im.exec(textOr(files, `${proc}/driver/nvidia/gpus/${slot}/power`))?.[1]
    if (runtimeD3 !== undefined) return runtimeD3 === 'Enabled'
    return isSuspended(files, sys, slot) || Number(textOr(files, `${power}/runtime_suspended_time`)) > 0
  }
  return gpus.every(canSleep) ? gpus : []
}
function isSuspended(files: Files, sys: string, slot: string): boolean {
  const status = textOr(files, `${sys}/bus/pci/devices/${slot}/power/runtime_status`)
  return status === 'suspended' || status === 'suspending'
}

/** Whether a process has a GPU open, beside the agent, the daemon, and those that only draw with it. */
function isHeld(files: Files, proc: string, drawing: ReadonlySet<number>): boolean {
  return files.names(proc).some((name) => {
    if (!/^\d+$/.test(name) || drawing.has(Number(name))) return false
    const holds = files.names(`${proc}/${name}/fd`).some((fd) => /^\/dev\/nvidia\d+$/.test(files.link(`${proc}/${name}/fd/${fd}`) ?? ''))
    if (!holds) return false
    const comm = textOr(files, `${proc}/${name}/comm`)
    return !OF_AGENT.test(comm) && comm !== DAEMON
  })
}

export function createRuntimeSleep(files: Files, roots: Roots): RuntimeSleep {
  let gpus: readonly string[] = []
  let lookedMs = -Infinity
  let reading: boolean | undefined
  let drawing: ReadonlySet<number> = new Set()
  let busyMs = -Infinity
  let notBeforeMs = -Infinity
  let retryMs = RETRY_MS
  let slept = false
  let awakeSinceMs: number | undefined
  let heldMs = -Infinity

  const lookAround = (nowMs: number): void => {
    if (nowMs - lookedMs < LOOK_AROUND_MS) return
    lookedMs = nowMs
    gpus = sleepers(files, roots)
  }
  const suspended = (): readonly string[] => gpus.filter((slot) => isSuspended(files, roots.sys, slot))
  const begin = (nowMs: number): boolean => {
    reading = true
    busyMs = nowMs
    notBeforeMs = slept ? -Infinity : nowMs + retryMs
    retryMs = slept ? RETRY_MS : Math.min(retryMs * 2, RETRY_MOST_MS)
    return true
  }
  const letGo = (nowMs: number): boolean => {
    reading = false
    slept = false
    awakeSinceMs = nowMs
    heldMs = nowMs
    return false
  }
  const isHeldNow = (nowMs: number): boolean => {
    if (nowMs - heldMs < HOLDERS_EVERY_MS) return false
    heldMs = nowMs
    return isHeld(files, roots.proc, drawing)
  }

  return {
    suspended,
    sampled(nowMs, busy, pids) {
      drawing = new Set(pids)
      if (busy) busyMs = nowMs
    },
    mayRead(nowMs) {
      lookAround(nowMs)
      if (gpus.length === 0) return (reading = true)
      const asleep = suspended().length === gpus.length
      if (reading === undefined) {
        busyMs = nowMs
        slept = asleep
        return (reading = !asleep)
      }
      if (reading) {
        // Asleep although it is read: NVML has not opened it yet, or the driver lets it sleep with handles.
        if (asleep) slept = true
        else if (nowMs - busyMs < IDLE_MS || nowMs < notBeforeMs) return true
        else if (isHeld(files, roots.proc, drawing)) {
          busyMs = nowMs
          return true
        }
        return letGo(nowMs)
      }
      if (asleep) {
        slept = true
        awakeSinceMs = undefined
        return false
      }
      awakeSinceMs ??= nowMs
      if (isHeldNow(nowMs)) return begin(nowMs)
      return nowMs - awakeSinceMs >= (slept ? WOKEN_MS : STAYS_AWAKE_MS) ? begin(nowMs) : false
    },
  }
}
