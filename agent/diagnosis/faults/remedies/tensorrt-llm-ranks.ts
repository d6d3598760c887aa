// TensorRT-LLM started with another number of processes than its engine has ranks: what it says in several places, and how each is started.
import type { Situation } from '../../situation/situation.ts'
import type { Piece } from './plan.ts'

/** `mpiSize == tp * pp` (worldConfig.cpp), the executor's leader mode, and the assertion of its Python runtime. */
export const WRONG_RANKS =
  /MPI size \d{1,4} != TP \* PP|mpiSize == tp \* pp|Engine world size \(\d{1,4} \* \d{1,4}\) != Runtime world size|MPI worldSize is expected to be equal to tp\*pp/
export const WRONG_RANKS_TITLE = 'TensorRT-LLM was started with the wrong number of processes'

const NAMED = /MPI size (\d{1,4}) != TP \* PP \((\d{1,4}) \* (\d{1,4})\)/
const ASSERTED = /Engine world size \((\d{1,4}) \* (\d{1,4})\) != Runtime world size \((\d{1,4})\)/
const SIZE = /\[TensorRT-LLM\]\[INFO\] MPI size: (\d{1,4}),/
/** Not its folder alone, in which people keep TensorRT-LLM too. */
const TRITON = /model_lifecycle|modelInstanceState|libtriton|triton_model|launch_triton|tritonserver --|\| UNAVAILABLE/i
/** What mpirun itself prints when a rank ends, or its command. */
const UNDER_MPIRUN = /\bmpirun\b|\bmpiexec\b|Primary job {1,2}terminated normally/

function figures(text: string): { readonly started?: number; readonly ranks?: number } {
  const named = NAMED.exec(text)
  if (named !== null) return { started: Number(named[1]), ranks: Number(named[2]) * Number(named[3]) }
  const asserted = ASSERTED.exec(text)
  if (asserted !== null) return { started: Number(asserted[3]), ranks: Number(asserted[1]) * Number(asserted[2]) }
  const size = SIZE.exec(text)?.[1]
  return size === undefined ? {} : { started: Number(size) }
}

export function wrongRanksSays({ text }: Situation): string {
  const { started, ranks } = figures(text)
  const here = started === undefined ? '' : `, and ${started} ${started === 1 ? 'process was' : 'processes were'} started`
  return ranks === undefined
    ? `The engine was built for several GPUs, and one process for each must be started${here === '' ? '' : here.replace(', and', ':')}.`
    : `The engine was built for ${ranks} GPUs (tensor times pipeline parallel)${here}.`
}

export function wrongRanksRemedies({ text }: Situation): readonly Piece[] {
  const { started, ranks } = figures(text)
  const count = ranks === undefined ? '<GPUS>' : String(ranks)
  const alone = started === 1 && UNDER_MPIRUN.test(text)
  return [
    alone && {
      text: 'mpirun was used, and the process saw only itself: its mpi4py belongs to another MPI than this mpirun. See which one it has, and install it again for this one.',
      command: 'python -c "import mpi4py; print(mpi4py.get_config())"\npython -m pip install --force-reinstall --no-binary mpi4py mpi4py',
    },
    TRITON.test(text)
      ? {
          text: 'Start Triton with one process for each GPU of the engine.',
          command: `python3 scripts/launch_triton_server.py --world_size=${count} --model_repo=<REPOSITORY>`,
        }
      : {
          text: `Start one process for each GPU of the engine${text.includes('kLEADER') ? ' (Triton: with its scripts/launch_triton_server.py and --world_size)' : ''}.`,
          command: `mpirun -n ${count} --allow-run-as-root <COMMAND>`,
        },
    { text: 'Or build the engine again for the GPUs that there are.' },
  ]
}
