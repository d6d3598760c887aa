// A card that was here, or that the configuration says is here, and that the driver does not have (any more).
import { gpusExpected, gpusPresent } from '../../metrics/driver.ts'
import { gpuPresent } from '../../metrics/gpu-identity.ts'
import { gpuMemoryUsedBytes } from '../../metrics/gpu-memory.ts'
import type { TypedFinding } from '../../model/finding.ts'
import { counted, plural } from '../../text/grammar.ts'
import { defineDetector } from './definition.ts'
import { createGpuRows, gpuText, metricsOf } from './parts/gpu-rows.ts'
import { concernsGpu, isKnown, isWide, reasonText, troublesOf, type Trouble } from './parts/gpu-trouble.ts'
import { createHold } from './parts/hold.ts'
import { createPerGpu, createFindingDeduper } from './parts/per-gpu.ts'
import { concerns, usersOf } from './parts/users.ts'

const COLUMNS = {
  /** Read of every card that answers (nvmlDeviceGetMemoryInfo). */
  used: { metric: gpuMemoryUsedBytes.name },
  listed: { metric: gpuPresent.name },
}
const PRESENT = gpusPresent.name
const EXPECTED = gpusExpected.name

const REMEDIES = [
  {
    text: 'See what the kernel said when it went: Xid 79 is a card that fell off the bus.',
    command: "sudo dmesg -T | grep -iE 'NVRM|Xid|AER|pcieport' | tail -30",
  },
  { text: 'See whether the PCI bus still has it, and whether the driver lists it.', command: 'lspci -nn | grep -i nvidia; nvidia-smi -L' },
  {
    text: 'A GPU that is off the bus comes back only with a reboot, often only with a power cycle: shut the host down, switch its power off, start it again.',
    command: 'sudo poweroff',
  },
  { text: 'If it goes again: reseat the card and its power cables, look for heat, then have it replaced.', command: 'sudo nvidia-bug-report.sh' },
  { text: 'If it was taken out on purpose, set gpu.expected_gpus in warpwatch.yaml to what there is.', command: 'warpwatch config | grep expected_gpus' },
] as const

type State = ReturnType<typeof makeState>
const makeState = (key: string, uuid: string | undefined, options: { readonly for_seconds: number; readonly clear_seconds: number }) => ({
  hold: createHold({ forMs: options.for_seconds * 1_000, clearMs: options.clear_seconds * 1_000 }),
  deduper: createFindingDeduper({ kind: 'gpu_missing', key, about: uuid === undefined ? {} : { uuid } }),
  why: undefined as Trouble | undefined,
})

export const gpuMissing = defineDetector({
  id: 'gpu-missing',
  kinds: ['gpu_missing'],
  title: 'A GPU is missing',
  severity: 'critical',
  watches: [...metricsOf(COLUMNS), PRESENT, EXPECTED],
  everyMs: 1_000,
  options: {
    for_seconds: { default: 1, min: 0, max: 3_600, help: 'For how long the driver must be without the GPU.' },
    clear_seconds: { default: 3, min: 0, max: 3_600, help: 'For how long it must be there again, until it is over.' },
    count_seconds: { default: 10, min: 0, max: 3_600, help: 'The same where fewer GPUs than expected are there, and it is not known which one is gone.' },
  },
  // The second half counts as the detector does: GPUs with a known UUID have a finding of their own.
  expression: {
    promql: `${gpuPresent.name} == 0
or ${gpusExpected.name} - ${gpusPresent.name} > on () (count by () (${gpuPresent.name} == 0) or on () 0 * ${gpusPresent.name})`,
  },
  create(options, { present, tracks }) {
    const rows = createGpuRows(present, COLUMNS)
    const states = createPerGpu((uuid) => makeState(uuid, uuid, options))
    /** GPUs lost before their UUID was read. An earlier run may know the UUID, so these wait for the list of known GPUs. */
    const nameless = new Map<number, State>()
    const count = {
      hold: createHold({ forMs: options.count_seconds * 1_000, clearMs: options.clear_seconds * 1_000 }),
      deduper: createFindingDeduper({ kind: 'gpu_missing', key: 'count', about: {} }),
    }
    const figure = (metric: string): number | undefined => present.of(metric)[0]?.value
    const facts = () => {
      const [here, expected] = [figure(PRESENT), figure(EXPECTED)]
      return { ...(here === undefined ? {} : { gpus_present: here }), ...(expected === undefined ? {} : { gpus_expected: expected }) }
    }

    const report = (found: TypedFinding[], state: State, key: string, uuid: string | undefined, index: number, name: string): void => {
      const users = uuid === undefined ? [] : usersOf(tracks, uuid)
      const { why } = state
      const wantsReset = why?.gap.reason === 'reset_required'
      const cause = why === undefined ? 'The driver does not list it; before, this host had it.' : reasonText(why)
      state.deduper.faulty(found, {
        kind: 'gpu_missing',
        key,
        about: uuid === undefined ? {} : { uuid },
        state: 'faulty',
        severity: 'critical',
        title: wantsReset ? `GPU ${index} cannot be used until it is reset` : `GPU ${index} is missing`,
        verdict: `${name} is gone: no program can use it, and those that did have failed or will. ${cause}${concerns(users)}`,
        facts: { gpu_index: index, ...facts(), ...(users.length === 0 ? {} : { affected: users }) },
        remedies: wantsReset ? [{ text: 'End what uses the GPU, then reset it.', command: `sudo nvidia-smi --gpu-reset -i ${index}` }, ...REMEDIES] : REMEDIES,
      })
    }

    return {
      judge(t) {
        const found: TypedFinding[] = []
        const troubles = troublesOf(present)
        const cards = rows.read()
        let named = 0
        for (const { uuid, index, now, name } of cards.values()) {
          const why = troubles.length === 0 ? undefined : troubles.find((trouble) => !isWide(trouble) && concernsGpu(trouble, uuid, index))
          const lost = why?.kind === 'missing' ? why : undefined
          const state = states.of(uuid)
          // A card that hangs is there; what its readings say is newer than the list.
          const gone = now.used === undefined && (lost !== undefined || (why === undefined && now.listed === 0))
          const here = now.used !== undefined || now.listed === 1
          const held = state.hold.see(t, gone ? true : here ? false : undefined)
          if (gone) named++
          if (lost !== undefined) state.why = lost
          if (held === 'healthy') {
            state.why = undefined
            state.deduper.healthy(found, 'the driver has the GPU again')
          } else if (held === 'faulty') report(found, state, uuid, uuid, index, gpuText({ index, name }))
        }
        for (const trouble of troubles) {
          const { uuid, index, kind } = trouble
          if (kind !== 'missing' || index === undefined || isKnown(trouble, cards)) continue
          named++
          const state =
            uuid === undefined
              ? (nameless.get(index) ?? makeState(`gpu ${index}`, undefined, { ...options, for_seconds: options.count_seconds }))
              : states.of(uuid)
          if (uuid === undefined) nameless.set(index, state)
          state.why = trouble
          if (state.hold.see(t, true) === 'faulty') report(found, state, uuid ?? `gpu ${index}`, uuid, index, `GPU ${index}`)
        }
        if (nameless.size > 0) {
          for (const [index, state] of nameless) {
            const answers = [...cards.values()].some((card) => card.index === index && card.now.used !== undefined)
            if (answers && state.hold.see(t, false) === 'healthy') {
              state.deduper.healthy(found, 'the driver has the GPU again')
              nameless.delete(index)
            }
          }
        }
        const [here, expected] = [figure(PRESENT), figure(EXPECTED)]
        const short = here === undefined || expected === undefined ? undefined : expected - here
        const held = count.hold.see(t, short === undefined ? undefined : short > named)
        if (held === 'healthy') count.deduper.healthy(found, 'as many GPUs as expected are there')
        else if (held === 'faulty' && short !== undefined && here !== undefined) {
          count.deduper.faulty(found, {
            kind: 'gpu_missing',
            key: 'count',
            about: {},
            state: 'faulty',
            severity: 'critical',
            title: `${short} of ${expected} GPUs ${plural(short, 'is', 'are')} missing`,
            verdict: `The driver lists ${counted(here, 'GPU')} where ${expected} are expected.`,
            facts: facts(),
            remedies: REMEDIES,
          })
        }
        return found
      },
    }
  },
})
