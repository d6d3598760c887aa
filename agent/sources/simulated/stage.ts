// Moves the simulated host on, second by second, and returns what happens on it as events.
import { XID_WINDOW_MS } from '../../model/xid-count.ts'
import type { Event, HangEvent } from '../../model/event.ts'
import { capacityOf, moveCard, type Card, type Load } from './card.ts'
import { GIB, type AllocatorFailure } from './allocator.ts'
import { oomKillLines, podGroup } from './kernel-text.ts'
import { cudaErrorLines, oomLines } from './torch-text.ts'
import { STANDING, type Demand } from './workloads.ts'
import { freeFor, heldBytes, isAlive, restartProcess, usedBytes, type Box, type Process, type World } from './world.ts'

/** The engine waits a little before it starts a container again. */
const RESTART_AFTER_S = 9
const IDLE: Readonly<Load> = { utilization: 0, pcieBytesPerSecond: 0, nvlinkBytesPerSecond: 0 }

export type Stage = {
  readonly world: World
  readonly card: (index: number) => Card
  readonly processesOf: (box: string) => readonly Process[]
  readonly box: (name: string) => Box | undefined
  readonly kernel: (text: string) => void
  readonly log: (box: Box, text: string) => void
  /** The container's main process ends; the engine starts it again. */
  readonly die: (box: Box, exitCode: number) => void
  /** The container reached its memory limit: the kernel kills its process, and the engine starts it again. */
  readonly killForMemory: (process: Process) => void
  /** The same for a job of Slurm: it ends, and is not started again by itself. */
  readonly endForMemory: (process: Process, job: string, limitBytes: number) => void
  /** A container exits with a CUDA error in its log. */
  readonly crash: (process: Process, error: string) => void
  /** The process ends and starts over at once, as when a user restarts a notebook's kernel. */
  readonly restart: (process: Process) => void
  readonly xid: (card: Card, xid: number, text: string, process?: Process) => void
  /** What a look at the processes of a job came to that makes no progress. */
  readonly hang: (found: Omit<HangEvent, 'type' | 't'>) => void
  /** The time of the second, Unix ms. */
  readonly now: () => number
  /** A new second of the story begins at `t` (Unix ms); what a scenario does then happens at that time. */
  readonly enter: (second: number, t: number) => void
  /** Everything moves on by that second, in which `wallSeconds` pass for the counters. */
  readonly step: (wallSeconds: number) => void
  /** What happened since the last call. */
  readonly takeEvents: () => readonly Event[]
}

export function createStage(world: World): Stage {
  let [now, second] = [0, 0]
  let events: Event[] = []

  const containerEvent = (box: Box, action: string, exitCode?: number): void => {
    const exit = exitCode === undefined ? {} : { exit_code: exitCode }
    events.push({ type: 'container', t: now, action, container: box.identity.name, container_id: box.id.slice(0, 12), image: box.image, ...exit })
  }
  const log: Stage['log'] = (box, text) =>
    events.push({ type: 'log', t: now, stream: 'container', origin: { container: box.identity.name, container_id: box.id.slice(0, 12) }, text })
  const die: Stage['die'] = (box, exitCode) => {
    if (!box.running) return
    box.running = false
    box.restartAt = second + RESTART_AFTER_S
    containerEvent(box, 'die', exitCode)
  }
  const kernel: Stage['kernel'] = (text) => events.push({ type: 'log', t: now, stream: 'kernel', origin: {}, text })
  const killForMemory: Stage['killForMemory'] = (process) => {
    const { owner } = process
    if (owner === undefined) return
    const limit = Math.floor((owner.limitGib ?? 0) * GIB)
    for (const line of oomKillLines({ process: process.name, pid: process.pid, group: podGroup(owner.id), limitBytes: limit })) kernel(line)
    owner.oomKills += 1
    die(owner, 137)
  }
  const endForMemory: Stage['endForMemory'] = (process, job, limitBytes) => {
    const group = `/system.slice/slurmstepd.scope/job_${job}/step_batch/user/task_0`
    for (const line of oomKillLines({ process: process.name, pid: process.pid, group, limitBytes })) kernel(line)
    const text = `slurmstepd: error: Detected 1 oom_kill event in StepId=${job}.batch. Some of the step tasks have been OOM Killed.`
    events.push({ type: 'log', t: now, stream: 'file', origin: { path: '/var/log/slurm/slurmd.log' }, text })
    process.ended = true
  }
  const crash: Stage['crash'] = (process, error) => {
    if (process.owner === undefined) return
    for (const line of cudaErrorLines(process.script, error)) log(process.owner, line)
    die(process.owner, 1)
  }

  const outOfMemory = (process: Process, failure: AllocatorFailure): void => {
    const { card, owner } = process
    const capacity = process.mig?.totalBytes ?? capacityOf(card)
    const container = owner === undefined ? {} : { container: owner.identity.name }
    events.push({
      type: 'allocator_oom',
      t: now,
      pid: process.pid,
      uuid: card.uuid,
      ...(process.mig === undefined ? {} : { mig_uuid: process.mig.uuid }),
      ...container,
      request_bytes: failure.requestBytes,
      limit_bytes: capacity,
      free_bytes: failure.freeBytes,
      stats: failure.stats,
    })
    if (owner === undefined) return
    const others = world.processes.filter((other) => other !== process && other.card === card && other.mig === process.mig && isAlive(other))
    const text = oomLines({
      script: process.script,
      requestBytes: failure.requestBytes,
      capacityBytes: capacity,
      freeBytes: failure.freeBytes,
      processBytes: heldBytes(process),
      others: others.map((other) => ({ pid: other.pid, bytes: heldBytes(other) })),
      allocatedBytes: failure.allocated,
      reservedBytes: failure.reserved,
    })
    for (const line of text) log(owner, line)
    die(owner, 1)
  }
  const restartBoxes = (): void => {
    for (const box of world.boxes) {
      if (box.running || box.restartAt === undefined || second < box.restartAt) continue
      const its = world.processes.filter((process) => process.owner === box)
      // A job whose card is gone would only fail again at once.
      if (its.some((process) => process.card.fault === 'lost')) continue
      box.running = true
      box.restartAt = undefined
      box.extraMemoryBytes = 0
      box.restarts += 1
      for (const process of its) restartProcess(process, world.nextPid(), second)
      containerEvent(box, 'start')
    }
  }
  /** Nothing where it ran out of memory. */
  const demandOf = (process: Process): Omit<Demand, 'allocatedBytes'> | undefined => {
    if (process.stands !== undefined) return STANDING[process.stands]
    const demand = process.workload(second - process.startedAt, process.random)
    const failure = process.allocator.demand(demand.allocatedBytes + process.extraBytes, process.strandedBytes, freeFor(world, process))
    if (failure === undefined) return demand
    outOfMemory(process, failure)
    return undefined
  }
  const runProcesses = (wallSeconds: number): void => {
    const busy = new Map<Card, Load>()
    for (const process of world.processes) {
      process.cpuCores = 0
      process.utilization = 0
      if (!isAlive(process)) continue
      const demand = demandOf(process)
      if (demand === undefined) continue
      process.cpuCores = demand.cpuCores
      process.utilization = demand.utilization
      const sum = busy.get(process.card) ?? { ...IDLE }
      if (process.stands === 'spins') sum.spins = true
      sum.utilization += demand.utilization
      sum.pcieBytesPerSecond += demand.pcieBytesPerSecond
      sum.nvlinkBytesPerSecond += demand.nvlinkBytesPerSecond ?? 0
      busy.set(process.card, sum)
    }
    for (const card of world.cards) {
      if (card.fault === 'lost') continue
      moveCard(card, busy.get(card) ?? IDLE, usedBytes(world, card), wallSeconds)
    }
  }
  const runBoxes = (wallSeconds: number): void => {
    for (const box of world.boxes) {
      if (!box.running) continue
      let cores = box.cores * (0.8 + 0.4 * box.random())
      for (const process of world.processes) if (process.owner === box) cores += process.cpuCores
      box.cpuSeconds += cores * wallSeconds
      box.memoryBytes = Math.floor(box.memoryGib * (1 + 0.02 * box.random()) * 1_073_741_824) + box.extraMemoryBytes
    }
  }
  /** A line of progress now and then, as any training prints. */
  const progress = (): void => {
    if (second % 15 !== 0) return
    for (const process of world.processes) {
      const age = second - process.startedAt
      if (
        process.owner === undefined ||
        !process.script.includes('train') ||
        process.card.index % 4 !== 0 ||
        !isAlive(process) ||
        process.stands !== undefined ||
        age < 20
      )
        continue
      log(process.owner, `step ${Math.floor(age * 1.7)} loss ${(1.9 + 2.4 / (1 + age / 400) + 0.03 * process.random()).toFixed(4)} lr 2.0e-04`)
    }
  }
  return {
    world,
    card: (index) => {
      const card = world.cards[index % world.cards.length]
      if (card === undefined) throw new Error('the simulated host has no GPU; a scenario needs at least one')
      return card
    },
    box: (name) => world.boxes.find((box) => box.name === name),
    processesOf: (name) => world.processes.filter((process) => process.owner?.name === name),
    kernel,
    log,
    die,
    killForMemory,
    endForMemory,
    crash,
    restart: (process) => restartProcess(process, world.nextPid(), second),
    xid(card, xid, text, process) {
      const known = card.xids.get(xid)
      const times = [...(known?.times ?? []).filter((t) => t > now - XID_WINDOW_MS), now]
      card.xids.set(xid, { count: (known?.count ?? 0) + 1, lastAt: now, times })
      const bus = card.pciBusId.slice(4, -2).toLowerCase()
      const who = process === undefined ? '' : `pid=${process.pid}, name=${process.name}, `
      kernel(`NVRM: Xid (PCI:${bus}): ${xid}, ${who}${text}`)
    },
    now: () => now,
    hang: (found) => void events.push({ type: 'hang', t: now, ...found }),
    enter(at, t) {
      second = at
      now = t
    },
    step(wallSeconds) {
      restartBoxes()
      runProcesses(wallSeconds)
      runBoxes(wallSeconds)
      progress()
    },
    takeEvents() {
      const taken = events
      events = []
      return taken
    },
  }
}
