// What a person calls a command: `python train.py`, `torchrun train.py`, `python -m vllm.entrypoints.api_server`.
const MAX_NAME = 80
const base = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
/** `python3.11` and `python3` are the same to a person. */
const program = (path: string): string => base(path).replace(/^(python|perl|ruby)[\d.]+$/, '$1')
/** Options of launchers and interpreters that take a value: what follows is not the script. */
const TAKES_VALUE =
  /^(?:-W|-X|-Q|-c|--(?:nproc[-_]per[-_]node|nnodes|node[-_]rank|master[-_](?:addr|port)|rdzv[-_]\w+|num[-_](?:processes|machines|gpus)|config[-_]file|include|hostfile|log[-_]dir))$/

/** Scripts that start the script that is meant. */
const LAUNCHERS = new Set(['torchrun', 'deepspeed', 'accelerate'])

export function commandName(argv: readonly string[]): string {
  const [first = '', ...rest] = argv
  let name = program(first)
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? ''
    if (word === '-m') return cut(`${name} -m ${rest[at + 1] ?? ''}`)
    if (word === '-c') return cut(`${name} -c`)
    if (TAKES_VALUE.test(word)) at++
    else if (LAUNCHERS.has(base(word))) name = base(word)
    else if (name === 'accelerate' && word === 'launch') name = 'accelerate launch'
    else if (!word.startsWith('-')) return cut(`${name} ${base(word)}`)
  }
  return cut(name)
}
const cut = (text: string): string => {
  const clean = text.replace(/[\p{Cc}\s]+/gu, ' ').trim()
  return clean.length > MAX_NAME ? `${clean.slice(0, MAX_NAME - 1)}…` : clean
}
