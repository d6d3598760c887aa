// Messages of PyTorch about tensors and ranks whose sizes, types or numbers do not fit: with the figures of the message.
import { isUserFrame } from '../../traceback/user-frame.ts'
import type { EndContext } from '../end-kind.ts'
import { packageOf } from '../python-packages.ts'
import { only, type Known } from './message.ts'

/** The script that the traceback begins in. */
export const script = ({ error }: EndContext): string => {
  const file = error?.frames.find(({ name }) => name === '<module>')?.file
  return file !== undefined && /^[\w./-]+\.py$/.test(file) && !/(?:site|dist)-packages/.test(file) ? file : '<SCRIPT>'
}

/** The library whose model holds the layer; undefined where the model is the user's own. */
function ofLibrary({ error }: EndContext): string | undefined {
  const frames = (error?.frames ?? []).filter(({ file }) => packageOf(file) !== 'torch')
  const last = frames.at(-1)
  return last === undefined || isUserFrame(last) ? undefined : packageOf(last.file)
}

/** The multiples beside a number that does not divide. */
function multiples(given: number, of: number): string {
  const below = Math.floor(given / of) * of
  return below === 0 ? `${of}` : `${below} or ${below + of}`
}

export const TENSORS: readonly Known[] = [
  {
    pattern: /^Target (-?\d{1,9}) is out of bounds/,
    says: ([, target]) => `A label is ${target}, and the output layer has no such class.`,
    remedies: ([, target]) => [
      Number(target) < 0
        ? { text: `Labels count from 0: map them, or leave ${target} out of the loss with ignore_index=${target}.` }
        : {
            text: `Give the output layer more than ${target} classes (num_labels, num_classes), or map the labels to 0 … n-1: print labels.unique() of the data set.`,
          },
    ],
  },
  {
    pattern: /mat1 and mat2 shapes cannot be multiplied \((\d{1,9})x(\d{1,9}) and (\d{1,9})x(\d{1,9})\)/,
    says: ([, , has, wants]) => `The layer takes inputs with ${wants} features, and got ${has}.`,
    remedies: ([, rows, has, wants, out], context) => [
      Number(has) > Number(wants) &&
        Number(wants) > 1 &&
        Number(has) % Number(wants) === 0 && {
          text: `${has} is ${Number(has) / Number(wants)} × ${wants}: ${Number(has) / Number(wants)} vectors are side by side in one row, mostly those of a batch. Stack them as rows (torch.cat(…, dim=0)); where it is a finished script, update it or use a batch of 1.`,
        },
      ofLibrary(context)
        ? { text: `The layer is part of a model of ${ofLibrary(context)}: bring the input to ${wants} features, and see that model and input belong together.` }
        : {
            text: `Make the layer for its input (nn.Linear(${has}, ${out})), or bring the input to ${wants} features: print x.shape before the layer.`,
          },
      Number(rows) * Number(has) > 0 &&
        Number(wants) % Number(has) === 0 && { text: `${wants} is ${Number(wants) / Number(has)} × ${has}: likely x.flatten(1) is missing before the layer.` },
    ],
  },
  {
    pattern: /weight of size \[\d{1,6}, (\d{1,6})[^\]]{0,60}\], expected input\[([^\]]{1,60})\] to have (\d{1,6}) channels, but got (\d{1,6}) channels/,
    says: ([, , , wants, has]) => `The convolution takes ${wants} channels, and the input has ${has}.`,
    remedies: ([, , shape = '', wants, has]) => [
      shape.split(', ').at(-1) === wants
        ? { text: `The channels come last: bring them to the front (x.permute(0, 3, 1, 2)).` }
        : wants === '3' && (has === '1' || has === '4')
          ? { text: "Read the images as RGB (Image.open(path).convert('RGB')), or make the first layer for them." }
          : { text: `Bring the input to ${wants} channel${wants === '1' ? '' : 's'}, or make the layer with in_channels=${has}.` },
    ],
  },
  {
    pattern: /Expected input batch_size \((\d{1,9})\) to match target batch_size \((\d{1,9})\)/,
    says: ([, input, target]) => {
      const factor = Number(input) / Number(target)
      return Number.isInteger(factor) && factor > 1 ? `The model gave ${factor} rows for each label.` : undefined
    },
    remedies: ([, input, target]) => [
      {
        text: `The outputs have ${input} rows and the labels ${target}: look for a view or reshape that puts another axis into the batch (use x.flatten(1), not x.view(-1, n)), or one prediction per token with one label per text.`,
      },
    ],
  },
  {
    pattern: /size of tensor a \((\d{1,7})\) must match the size of tensor b \((\d{1,7})\)/,
    remedies: (_, { situation }) => {
      const long = /maximum sequence length for this model \((\d{1,7}) > (\d{1,7})\)/.exec(situation.text)
      return long === null
        ? []
        : [
            {
              text: `The text has ${long[1]} tokens and the model takes ${long[2]}: tokenize with truncation=True, max_length=${long[2]}, or cut it into windows (stride, return_overflowing_tokens=True).`,
            },
          ]
    },
  },
  {
    pattern: /expected axis -1 of input shape to have value (\d{1,9}), but received input with shape \(None, ([\d, ]{1,60})\)/,
    remedies: ([, wants, shape = '']) => {
      const size = shape.split(',').reduce((product, one) => product * (one.trim() === '' ? 1 : Number(one)), 1)
      return [
        size === Number(wants)
          ? { text: `Put a Flatten layer before it: ${shape.replaceAll(', ', ' × ')} is ${wants}.` }
          : { text: `Give the layer inputs with ${wants} features, or build the model for inputs of shape (${shape}).` },
      ]
    },
  },
  {
    pattern: /dimension (\d) should be divisible by (\d{1,6}), but it is equal to (\d{1,9})/,
    remedies: ([, axis, by, given]) => [
      {
        text: `Bring axis ${axis} to a multiple of ${by}: ${multiples(Number(given), Number(by))} in place of ${given} (pad it, or drop the last part), or shard another axis.`,
      },
    ],
  },
  {
    pattern: /0D or 1D target tensor expected, multi-target not supported/,
    remedies: only(
      'The labels have one axis too many: for class numbers squeeze it (y.squeeze(1).long()); for one-hot labels take y.argmax(1), or BCEWithLogitsLoss where several classes hold at once.',
    ),
  },
  {
    pattern: /target size \(torch\.Size\(\[([\d, ]{1,40})\]\)\)[^(]{1,60}input size \(torch\.Size\(\[([\d, ]{1,40})\]\)\)/,
    remedies: ([, target = '', input = '']) => [
      input === `${target}, 1`
        ? { text: `Bring both to one shape: [${input}] for [${target}]: y.unsqueeze(1).float(), or squeeze(1) the output.` }
        : { text: `Bring both to one shape: the output is [${input}], the target [${target}].` },
    ],
  },
  {
    pattern: /expected scalar type (?:Long|Int) but (?:found|got) (Float|Double|Half|Int)/,
    remedies: ([, found]) => [{ text: `Labels of cross entropy and indexes must be whole numbers: y.long() (they are ${found} here).` }],
  },
  {
    pattern: /_amp_(?:foreach_)?non_finite_check_and_unscale_cuda.{0,4} not implemented for 'BFloat16'/,
    says: 'A gradient scaler, which is for fp16, met gradients in bf16.',
    remedies: only('Leave the scaler out with bf16 (GradScaler(enabled=False); Trainer: bf16=True, fp16=False), or load the model in float32 for fp16.'),
  },
  {
    pattern:
      /_cpu\w{0,12}"? not implemented for '(Half|BFloat16)'|(?:addmm_impl_cpu_|slow_conv2d_cpu|LayerNormKernelImpl|baddbmm_with_gemm|softmax_lastdim_kernel_impl).{0,3} not implemented for '(Half)'/,
    says: (match) => `The model is on the CPU, which lacks this operation in ${match[1] ?? match[2]}.`,
    remedies: () => [
      { text: "Move the model and its inputs to the GPU (model.to('cuda')), or load it for the CPU in float32 or bfloat16 (torch_dtype=torch.float32)." },
      {
        text: 'If it should have been on a GPU: see whether PyTorch finds one.',
        command: 'python -c "import torch; print(torch.version.cuda, torch.cuda.is_available())"',
      },
    ],
  },
  {
    pattern: /can't convert cuda:\d{1,3} device type tensor to numpy/,
    remedies: only('NumPy needs host memory: use tensor.detach().cpu().numpy().'),
  },
  {
    pattern: /a leaf Variable that requires grad is being used in an in-place operation/,
    remedies: only('Change parameters under torch.no_grad() (with torch.no_grad(): w.fill_(0)), or with torch.nn.init.'),
  },
  {
    pattern: /Rank (\d{1,6}) has (\d{1,9}) params, while rank (\d{1,6}) has inconsistent (\d{1,9}) params/,
    says: ([, , one, , other]) =>
      Number(one) * Number(other) === 0 ? 'A rank did not answer with its model, or built none.' : 'The ranks built different models.',
    remedies: ([, first, one, second, other]) => [
      Number(one) * Number(other) === 0 && {
        text: `Look at the log of rank ${Number(one) === 0 ? first : second} first: it ended before, is still elsewhere in the program, or froze all parameters. The number of processes must be the same on all hosts, and each must have a GPU of its own.`,
      },
      {
        text: 'Build the same model on every rank: no branch by rank, the same arguments, data and files (a vocabulary that each rank makes, a download that differs), the same frozen parameters.',
      },
      { text: 'Let each rank print its parameters and compare them: [n for n, p in model.named_parameters() if p.requires_grad].' },
    ],
  },
  {
    // https://github.com/modelscope/ms-swift/issues/5846
    pattern: /^ptrDesc->finalize\(\)/m,
    title: 'cuDNN refuses a tensor of the convolution',
    says: 'The cuDNN of this PyTorch has no description for a tensor of that size or type.',
    remedies: () => [
      {
        text: 'Update PyTorch, with torchvision and the extensions that were built for it (2.7.1 no longer has it).',
        command: 'python -m pip list | grep -iE "torch|cudnn"',
      },
      { text: 'Else see whether it runs without cuDNN: torch.backends.cudnn.enabled = False; or in another type (bf16, fp32).' },
    ],
  },
  {
    pattern: /No backend type associated with device type cpu/,
    says: 'A tensor on the CPU came to a collective of a group that has NCCL only.',
    remedies: only("Move it to the GPU before the collective, or give the group both: init_process_group('cpu:gloo,cuda:nccl')."),
  },
  {
    pattern: /environment variable (RANK|WORLD_SIZE|MASTER_ADDR|MASTER_PORT|LOCAL_RANK) expected, but not set/,
    says: 'The script was started on its own, without a launcher that sets the ranks.',
    remedies: ([, name], context) => [
      { text: `Start it with torchrun, which sets ${name} and the others.`, command: `torchrun --standalone --nproc-per-node=<GPUS> ${script(context)}` },
      { text: 'Under Slurm with one task for each GPU: set them from SLURM_PROCID, SLURM_NTASKS and SLURM_LOCALID before init_process_group.' },
    ],
  },
  {
    pattern: /launcher '(pdsh|mpirun|openmpi|mvapich|mpich)' not installed|PDSH not found/i,
    remedies: ([, name]) => [
      (name ?? 'pdsh').toLowerCase() === 'pdsh'
        ? {
            text: 'Install pdsh on the host that starts the job (it reaches the others by ssh). On Debian and Ubuntu:',
            command: 'sudo apt-get install -y pdsh',
          }
        : { text: `Install ${name}, or choose another launcher.` },
      {
        text: 'Or start it on each host with torchrun, which needs neither.',
        command: 'torchrun --nnodes=<HOSTS> --nproc-per-node=<GPUS> --rdzv-backend=c10d --rdzv-endpoint=<FIRST_HOST>:29500 <SCRIPT>',
      },
    ],
  },
  {
    pattern: /used a DP world size of (\d{1,6}) but the current world size is (\d{1,6})/,
    says: ([, was, is]) => `The optimizer was saved in ${was} parts, and there are ${is} ranks now.`,
    remedies: ([, was]) => [
      { text: `Go on with ${was} data-parallel ranks, as it was saved.` },
      {
        text: 'Or turn it into a universal checkpoint once, which loads with any number ("load_universal": true under "checkpoint").',
        command: 'python -m deepspeed.checkpoint.ds_to_universal --input_folder <CHECKPOINT> --output_folder <NEW_FOLDER>',
      },
      { text: 'Or load the weights only: load_optimizer_states=False (the optimizer starts over).' },
    ],
  },
  {
    // Figures in brackets behind their names: the product of the second and third must divide the first.
    pattern:
      /([\w ]{3,60}?) \(?(\d{1,9})(?: [x*×] (\d{1,6}))?\)? (?:(?:is|are) not (?:evenly )?divisible by|must be (?:evenly )?divisible by|(?:needs to be|must be) a (?:round )?multiple of) ([\w ]{3,60}?) \(?(\d{1,6})\)?(?: (?:times|\*|x) ([\w ]{3,60}?) \(?(\d{1,6})\)?)?(?=\W|$)/,
    remedies: ([, what = '', one, times, by, first, and, second]) => {
      const of = Number(first) * Number(second ?? 1)
      const given = Number(one) * Number(times ?? 1)
      if (of < 2) return []
      const name = what.trim().replace(/^.*\b[Tt]he /, '')
      const ranks = /world|ranks|GPUs/i.test(name)
      return [
        {
          text: `Set ${name} to a multiple of ${of}${second === undefined ? '' : ` (${first} × ${second})`}: ${multiples(given, of)}.`,
        },
        {
          text: ranks
            ? `Or change ${by?.trim()}, so that it divides ${given}.`
            : `Or change ${by?.trim()}${and === undefined ? '' : ` or ${and.trim()}`}, so that ${and === undefined ? 'it divides' : 'their product divides'} ${given}.`,
        },
      ]
    },
  },
]
