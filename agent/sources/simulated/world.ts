// The simulated host as things: cards, containers, processes.
import type { ContainerIdentity, ProcessIdentity } from '../../model/identity.ts'
import { createAllocator, MIB, type SimulatedAllocator } from './allocator.ts'
import { capacityOf, createCard, type Card, type MigInstance } from './card.ts'
import { asJob, asPod, type Cluster } from './cluster.ts'
import { BOXES, planFor, type BoxPlan, type ProcessPlan } from './jobs.ts'
import { createRandom, hexDigits, type Random } from './random.ts'

export type Box = BoxPlan & {
  readonly id: string
  readonly identity: ContainerIdentity
  readonly random: Random
  running: boolean
  /** Story second at which the engine starts it again. */
  restartAt: number | undefined
  restarts: number
  oomKills: number
  cpuSeconds: number
  memoryBytes: number
  /** What a scenario lets it take beyond its work. */
  extraMemoryBytes: number
}

export type Process = ProcessPlan & {
  readonly card: Card
  readonly mig: MigInstance | undefined
  readonly owner: Box | undefined
  readonly random: Random
  readonly contextBytes: number
  pid: number
  identity: ProcessIdentity
  allocator: SimulatedAllocator
  startedAt: number
  /** Without a container to take it along, until it is started again. */
  ended: boolean
  cpuCores: number
  /** It makes no progress, and keeps the memory that it has: its GPU spins in a collective, or idles. */
  stands: 'spins' | 'waits' | undefined
  /** Of its GPU, as the driver samples it. */
  utilization: number
  /** What a scenario lets it hold beyond its work, and what it lets go to pieces. */
  extraBytes: number
  strandedBytes: number
}

export type World = {
  readonly cluster: Cluster | undefined
  readonly cards: readonly Card[]
  readonly boxes: readonly Box[]
  readonly processes: readonly Process[]
  readonly nextPid: () => number
}

export const isAlive = (process: Process): boolean => process.owner?.running !== false && !process.ended && process.card.fault !== 'lost'
export const heldBytes = (process: Process): number => (isAlive(process) ? process.contextBytes + process.allocator.reserved() : 0)

export function usedBytes(world: World, card: Card): number {
  let used = card.overheadBytes
  for (const process of world.processes) if (process.card === card) used += heldBytes(process)
  return used
}

export function instanceUsedBytes(world: World, card: Card, instance: MigInstance): number {
  let used = 0
  for (const process of world.processes) if (process.card === card && process.mig === instance) used += heldBytes(process)
  return used
}

/** What one process can still get: the rest of its card, or of its MIG instance. */
export function freeFor(world: World, process: Process): number {
  const { card, mig } = process
  return mig === undefined ? capacityOf(card) - usedBytes(world, card) : mig.totalBytes - instanceUsedBytes(world, card, mig)
}

/** A process that has just begun; also what a restart makes of one. */
export function restartProcess(process: Process, pid: number, startedAt: number): void {
  process.pid = pid
  process.identity = { ...process.identity, pid, startTicks: pid * 100 }
  process.allocator = createAllocator()
  process.startedAt = startedAt
  process.ended = false
  process.stands = undefined
  process.extraBytes = 0
  process.strandedBytes = 0
}

function createBox(plan: BoxPlan, random: Random, cluster: Cluster | undefined): Box {
  const id = hexDigits(random, 64)
  const identity: ContainerIdentity = {
    id,
    name: plan.name,
    image: plan.image,
    ...(plan.project === undefined ? {} : { composeProject: plan.project }),
    ...(plan.service === undefined ? {} : { composeService: plan.service }),
  }
  return {
    ...plan,
    id,
    identity: cluster === 'kubernetes' ? asPod(plan.name, identity) : identity,
    random,
    running: true,
    restartAt: undefined,
    restarts: 0,
    oomKills: 0,
    cpuSeconds: Math.floor(random() * 90_000),
    memoryBytes: 0,
    extraMemoryBytes: 0,
  }
}

export type WorldOptions = {
  readonly seed: number
  readonly gpus: number
  readonly processes: number
  readonly containers: number
  readonly mig: boolean
  readonly cluster?: Cluster | undefined
}

export function createWorld(options: WorldOptions): World {
  const { seed, gpus, mig, cluster } = options
  const cards = Array.from({ length: gpus }, (_, index) => createCard(index, createRandom(seed, `card ${index}`), mig && index === gpus - 1))
  const plans = Array.from({ length: options.containers }, (_, index) => {
    const plan = BOXES[index % BOXES.length]
    if (plan === undefined) throw new Error('agent/sources/simulated/jobs.ts names no containers')
    return index < BOXES.length ? plan : { ...plan, name: `${plan.name.replace(/-1$/, '')}-${Math.floor(index / BOXES.length) + 1}` }
  })
  // Slurm's jobs run without containers.
  const boxes = cluster === 'slurm' ? [] : plans.map((plan) => createBox(plan, createRandom(seed, `box ${plan.name}`), cluster))
  const pids = createRandom(seed, 'pids')
  let pid = 2_000
  const nextPid = (): number => (pid += 1 + Math.floor(pids() * 90))
  const processes = planFor(gpus, options.processes).flatMap((plan, index): Process[] => {
    const card = cards[plan.gpu]
    if (card === undefined) return []
    const owner = boxes.find((box) => box.name === plan.box)
    const random = createRandom(seed, `process ${index}`)
    const first = nextPid()
    const identity: ProcessIdentity = {
      pid: first,
      startTicks: first * 100,
      name: plan.name,
      ...(owner === undefined ? {} : { container: owner.identity }),
      ...(plan.unit === undefined ? {} : { unit: plan.unit }),
    }
    const contextBytes = (440 + 2 * Math.floor(random() * 40)) * MIB
    const instance = card.mig.length === 0 ? undefined : card.mig[(plan.instance ?? index) % card.mig.length]
    return [
      {
        ...plan,
        card,
        mig: instance,
        owner,
        random,
        contextBytes,
        pid: first,
        identity: cluster === 'slurm' ? asJob(plan.box, identity) : identity,
        allocator: createAllocator(),
        startedAt: 0,
        ended: false,
        cpuCores: 0,
        stands: undefined,
        utilization: 0,
        extraBytes: 0,
        strandedBytes: 0,
      },
    ]
  })
  return { cluster, cards, boxes, processes, nextPid }
}
