// What a program does not find around it: variables, the name of its user, what it compiled before, and what Lightning expects of its module.
import type { Piece } from '../../faults/remedies/plan.ts'
import type { EndContext } from '../end-kind.ts'
import type { Known } from './message.ts'
import { ofRows, type Row } from './rows.ts'
import { script } from './tensors.ts'

const LAUNCHED = /^(?:RANK|LOCAL_RANK|WORLD_SIZE|LOCAL_WORLD_SIZE|MASTER_ADDR|MASTER_PORT)$/
/** `os.environ[…]` fails in Python's own os.py. */
const fromEnvironment = ({ error }: EndContext): boolean =>
  error?.name === 'KeyError' && /(?:^|[\\/])os\.py$|^<frozen os>$/.test(error.frames.at(-1)?.file ?? '')
const launch = (name: string, context: EndContext): Piece => ({
  text: `Start it with a launcher, which sets ${name} and the others.`,
  command: `torchrun --standalone --nproc-per-node=<GPUS> ${script(context)}`,
})

const ROWS: readonly Row[] = [
  [
    // https://github.com/pytorch/pytorch/issues/140765
    /getpwuid\(\): uid not found: \d{1,10}/,
    'Give the process a name and its caches a folder, in a container with -e or env.',
    'export USER=user HOME=/tmp TORCHINDUCTOR_CACHE_DIR=/tmp/torchinductor',
    'A library asks for the name of the user (PyTorch does for the cache of torch.compile), and the container runs under a number that its /etc/passwd does not list. Without --user or runAsUser it runs under a user of the image.',
    'The user of the container has no name',
  ],
  [
    /Cannot use [`']?\w{0,40}Monitor[`']? callback with [`']?Trainer[`']? that has no logger/,
    'Give the Trainer a logger (logger=True, or CSVLogger), or take the callback out of callbacks= and out of the configuration.',
    undefined,
    undefined,
    'A callback of Lightning needs a logger',
  ],
  [
    /No [`']?(?:training_step|configure_optimizers)\(\)[`']? method defined/,
    'Define it in the module that goes to trainer.fit (its name, its indentation, not in the network within), or see that module and Trainer come from one package: lightning and pytorch_lightning do not mix.',
    undefined,
    undefined,
    'The module for Lightning lacks a method',
  ],
]

export const SURROUNDINGS: readonly Known[] = [
  {
    pattern: /^'(\w{1,80})'$/m,
    when: fromEnvironment,
    title: ([, name]) => `The environment variable ${name} is not set`,
    remedies: ([, name = ''], context) => [
      LAUNCHED.test(name)
        ? launch(name, context)
        : { text: `Set it where the job starts (in a container with -e, in a pod under env).`, command: `export ${name}=<VALUE>` },
      { text: `Or give the program a value for its absence: os.environ.get('${name}', …).` },
    ],
  },
  {
    // https://github.com/deepspeedai/DeepSpeed/issues/5677
    pattern: /torch_extensions[\\/](?:[^\s:]{1,160}[\\/])?(\w{1,60})\.so: cannot open shared object file/,
    title: ([, name]) => `The extension ${name} was not compiled`,
    says: 'PyTorch compiles it at the first start. That failed further above, or two processes built it at once (hosts with one home folder): TORCH_EXTENSIONS_DIR on a local disk keeps them apart.',
    remedies: ([, name = '']) => [
      {
        text: 'Delete what is there, and build it in one process alone: its first error (nvcc, g++, ninja, Python.h) is then the cause.',
        command: `rm -rf ~/.cache/torch_extensions${name === 'cpu_adam' ? '; ds_report; python -c "from deepspeed.ops.op_builder import CPUAdamBuilder as B; B().load()"' : ''}`,
      },
    ],
  },
  ...ofRows(ROWS),
]
