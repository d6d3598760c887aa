// Every reader of outside bytes gets inputs that were damaged: none throws what it does not name, none hangs or takes long, no pickle runs anything.
import { existsSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { readPickle } from '../../../agent/allocator/snapshot/pickle.ts'
import { SnapshotError } from '../../../agent/allocator/snapshot/error.ts'
import type { AbuseCase } from '../abuse-case.ts'
import { CANARY, HOSTILE_PICKLES } from '../parsers/hostile-pickles.ts'
import * as registry from '../parsers/index.ts'
import { runParsers } from '../parsers/run.ts'

const SEED = 20_261_123
const SHORT_SHARE = 1 / 1_000
const PARSERS = Object.values(registry)

/** Those that the reader took, which it must not. */
const taken = (): readonly string[] =>
  HOSTILE_PICKLES.flatMap(({ name, bytes }) => {
    try {
      readPickle(bytes)
      return [name]
    } catch (error) {
      return error instanceof SnapshotError ? [] : [`${name} (${String(error)})`]
    }
  })

export const mutatedInputs: AbuseCase = {
  id: 'mutated-inputs',
  area: 'parsers',
  fault: `damaged inputs for each of ${PARSERS.length} readers of outside bytes, and ${HOSTILE_PICKLES.length} pickles that call`,
  promised: 'nothing is thrown but refusals, no input takes more than 100 ms of CPU per 64 KiB (YAML 1 s), no pickle runs anything',
  hasShortForm: true,
  besideOthers: true,
  async run({ short }) {
    rmSync(CANARY, { force: true })
    const { inputs, slowest, failures } = await runParsers(
      PARSERS.map(({ name }) => name),
      { seed: SEED, share: short ? SHORT_SHARE : 1, lanes: Math.min(2, availableParallelism()) },
    )
    const wrong = [
      ...failures.map(({ parser, index, what }) => `${parser} input ${index} of seed ${SEED}: ${what}`),
      ...taken().map((name) => `pickle with ${name}: read`),
      ...(existsSync(CANARY) ? [`a pickle ran: ${CANARY} is there`] : []),
    ]
    rmSync(CANARY, { force: true })
    if (wrong.length > 0) return { held: false, observed: wrong.join('; ') }
    const each = [...new Set(PARSERS.map((parser) => parser.inputs))]
      .sort((a, b) => b - a)
      .map((count) => {
        const of = PARSERS.filter((parser) => parser.inputs === count).length
        return `${Math.ceil(count * (short ? SHORT_SHARE : 1))} each for ${of}`
      })
    return {
      held: true,
      observed: `${inputs} inputs (${each.join(', ')}), 0 failures, the slowest input ${slowest.ms.toFixed(0)} ms (${slowest.parser}); ${HOSTILE_PICKLES.length} of ${HOSTILE_PICKLES.length} pickles refused`,
    }
  },
}
