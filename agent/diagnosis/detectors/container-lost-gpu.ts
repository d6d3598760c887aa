// A container that was given a GPU can no longer reach it while it runs: mostly after `systemctl daemon-reload`, which writes device rules again.
import { containerGpuAccessible, containerGpuNode, containerInfo } from '../../metrics/container.ts'
import type { TypedFinding } from '../../model/finding.ts'
import type { Labels } from '../../model/series.ts'
import { defineDetector } from './definition.ts'
import { createHold } from './parts/hold.ts'
import { createFindingDeduper } from './parts/per-gpu.ts'

const ACCESSIBLE = containerGpuAccessible.name
const NODE = containerGpuNode.name
const INFO = containerInfo.name
/** A running container is reported every ten seconds (agent/sources/containers.ts); one that is missing for three times that has ended. */
const GONE_MS = 30_000
const HEARD_MS = 15_000
const MAX_CONTAINERS = 5_000

type Box = {
  readonly id: string
  name: string
  readonly hold: ReturnType<typeof createHold>
  readonly ended: ReturnType<typeof createHold>
  readonly deduper: ReturnType<typeof createFindingDeduper>
  lost: string[]
  held: string[]
  nodesGone: boolean
  read: boolean
}

export const containerLostGpu = defineDetector({
  id: 'container-lost-gpu',
  kinds: ['container_lost_gpu'],
  title: 'A container lost its GPU',
  severity: 'critical',
  watches: [ACCESSIBLE, NODE, INFO],
  everyMs: 1_000,
  options: {
    for_seconds: { default: 5, min: 0, max: 3_600, help: 'For how long the access must be gone.' },
    clear_seconds: { default: 5, min: 0, max: 3_600, help: 'For how long it must be back, until it is over.' },
  },
  expression: { promql: `${containerGpuAccessible.name} == 0`, for: '5s' },
  create(options, { present }) {
    const boxes = new Map<string, Box>()
    const boxOf = ({ container_id: id = '', container = id }: Labels): Box => {
      let box = boxes.get(id)
      if (box === undefined) {
        if (boxes.size >= MAX_CONTAINERS) for (const oldest of boxes.keys()) if (boxes.delete(oldest)) break
        box = {
          id,
          name: container,
          hold: createHold({ forMs: options.for_seconds * 1_000, clearMs: options.clear_seconds * 1_000 }),
          ended: createHold({ forMs: GONE_MS, clearMs: 0 }),
          deduper: createFindingDeduper({ kind: 'container_lost_gpu', key: id, about: { container, containerId: id } }),
          lost: [],
          held: [],
          nodesGone: false,
          read: false,
        }
        boxes.set(id, box)
      }
      return box
    }
    const report = (found: TypedFinding[], { id, name, lost, held, nodesGone, deduper }: Box): void => {
      const [one, all] = [lost.length === 1, held.length === 0]
      const which = `GPU${one ? '' : 's'} ${lost.join(', ')}`
      const how = nodesGone
        ? `The device node${one ? '' : 's'} in its /dev ${one ? 'is' : 'are'} gone.`
        : 'The device nodes are there, but its device cgroup no longer allows them: `systemctl daemon-reload` does that when the container toolkit added the devices behind the back of systemd.'
      deduper.faulty(found, {
        kind: 'container_lost_gpu',
        key: id,
        about: { container: name, containerId: id },
        state: 'faulty',
        severity: 'critical',
        title: `Container ${name} lost ${all && !one ? 'its GPUs' : which}`,
        verdict: `Container ${name} was given ${which} and can no longer reach ${one ? 'it' : 'them'} while it runs. ${how} Programs in it that already use CUDA may go on; nvidia-smi there and new programs fail with "Failed to initialize NVML: Unknown Error".`,
        facts: { gpus_lost: [...lost] },
        remedies: [
          { text: 'See it from inside.', command: `docker exec ${name} sh -c 'ls -l /dev/nvidia*; nvidia-smi'` },
          { text: 'Let its work save what it has, then restart it: it gets its devices back.', command: `docker restart ${name}` },
          {
            text: 'Make it last: create the links by which systemd finds the devices, at each boot, or request the GPUs by CDI.',
            command: 'sudo nvidia-ctk system create-dev-char-symlinks --create-all; sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml',
          },
          { text: 'Or use the cgroupfs driver of the engine, whose rules systemd does not touch.', command: "docker info -f '{{.CgroupDriver}}'" },
        ],
      })
    }

    return {
      judge(t) {
        const found: TypedFinding[] = []
        const readings = present.of(ACCESSIBLE)
        if (readings.length === 0 && boxes.size === 0) return found
        for (const box of boxes.values()) {
          box.lost.length = 0
          box.held.length = 0
          box.nodesGone = box.read = false
        }
        for (const { series, value } of readings) {
          if (series.labels['container_id'] === undefined) continue
          const box = boxOf(series.labels)
          box.name = series.labels['container'] ?? box.name
          box.read = true
          ;(value === 0 ? box.lost : box.held).push(series.labels['gpu'] ?? '?')
        }
        if ([...boxes.values()].some(({ lost }) => lost.length > 0)) {
          for (const { series, value } of present.of(NODE)) {
            const box = boxes.get(series.labels['container_id'] ?? '')
            if (box !== undefined && value === 0 && box.lost.includes(series.labels['gpu'] ?? '')) box.nodesGone = true
          }
        }
        const heard = present.heard('containers')
        const fresh = heard !== undefined && Math.abs(t - heard) <= HEARD_MS
        for (const box of boxes.values()) {
          if (!box.read) {
            // What is not read is not well; but a container that has ended has lost nothing any more.
            const runs = present.of(INFO).some(({ series }) => series.labels['container_id'] === box.id)
            if (box.ended.see(t, fresh ? !runs : undefined) === 'faulty') {
              box.deduper.healthy(found, 'the container has ended')
              boxes.delete(box.id)
            } else box.hold.see(t, undefined)
            continue
          }
          box.ended.see(t, false)
          const held = box.hold.see(t, box.lost.length > 0)
          if (held === 'healthy') box.deduper.healthy(found, 'the container can reach its GPUs again')
          else if (held === 'faulty') report(found, box)
        }
        return found
      },
    }
  },
})
