// Whose crash it is, for the advice: a program of Python, or a server of its own with other switches.
import type { Piece } from '../faults/remedies/plan.ts'
import { PROGRAM_NAMES, type Program } from '../situation/programs.ts'
import type { Situation } from '../situation/situation.ts'

/** Programs without Python: its tools say nothing of them. */
const COMPILED = ['ollama', 'llamacpp', 'ffmpeg', 'julia', 'matlab'] as const
/** What programs in Go, Rust, Fortran, R and Java print, and simulators. */
const OTHERS =
  /^goroutine \d{1,6} \[|panicked at |^forrtl: |\.[fF](?:90|95|03|08)\b|\bGROMACS\b|\bgmx mdrun\b|\bLAMMPS\b|\bMPI_Abort\(|\*{3} Process received signal \*{3}|^Charm\+\+|^Execution halted|^Exception in thread "|^Image {2,20}PC {2,20}Routine/m
const PYTHON = /\b(?:lib)?python[\d.]*\b|\b_?Py[A-Z]\w+_|\.py\b|Traceback \(most|site-packages|-packages\/|\bpip\b|llama-cpp-python|llama_cpp_python|torch/i

export const runsPython = ({ programs, text }: Situation): boolean =>
  (!COMPILED.some((program) => programs.has(program)) && !OTHERS.test(text)) || PYTHON.test(text)

/** What narrows a crash down where the program is known. */
export function serverSteps({ programs, text }: Situation): Piece {
  if (programs.has('ollama'))
    return [
      { text: "Read the runner's last lines in the log of the Ollama server.", command: 'journalctl -u ollama --no-pager | tail -n 80' },
      {
        text: 'Try fewer layers on the GPU (option num_gpu), or switch flash attention off. If it still crashes, update Ollama.',
        command: 'export OLLAMA_FLASH_ATTENTION=0',
      },
    ]
  if (programs.has('llamacpp'))
    return [
      {
        text: 'Run it with no layers on the GPU. If the crash goes away, the GPU code is at fault; if not, the model file or the common code.',
        command: /llama[-_]cpp[-_]python|llama_cpp[\\/]/.test(text) ? 'n_gpu_layers=0' : /LLamaSharp/i.test(text) ? 'GpuLayerCount = 0' : '--n-gpu-layers 0',
      },
      { text: 'Update llama.cpp; its checks fail on models, quantizations or flags that a release does not know. Report it with the model and the flags.' },
    ]
  return undefined
}

/** Servers of models whose switches differ too much for one that narrows it down. */
const SERVERS: readonly Program[] = ['tgi', 'tei', 'lmdeploy', 'tensorrt_llm', 'sglang', 'vllm', 'exllama']

/** The same of a crash in native code, for servers without such switches. */
export function crashSteps(situation: Situation): Piece {
  const { programs, system } = situation
  const known = serverSteps(situation)
  if (known !== undefined) return known
  if (programs.has('comfyui'))
    return {
      text: 'See whether ComfyUI runs without custom nodes; then switch them on again a few at a time: the one that crashes it shows.',
      command: `python main.py ${system === 'windows' ? '--windows-standalone-build ' : ''}--disable-all-custom-nodes`,
    }
  const name = SERVERS.find((one) => programs.has(one))
  return name === undefined
    ? undefined
    : { text: `Update ${PROGRAM_NAMES[name] ?? 'the server'}, and search its issues for this message: its native code is rarely yours to correct.` }
}
