// Messages of PyTorch, Transformers, DeepSpeed, PEFT and JAX while a model is loaded or trained.
import { printTorch } from '../../faults/remedies/environment.ts'
import type { Piece } from '../../faults/remedies/plan.ts'
import { only, type Known } from './message.ts'

/** By their places among what is trained, which is how DDP counts them; or a run that names them. */
function unusedParameters(text: string): Piece {
  const places = /Parameter indices which did not receive grad for rank \d{1,5}: (\d{1,6}(?: \d{1,6}){0,7})/.exec(text)?.[1]?.replaceAll(' ', ', ')
  return places === undefined
    ? { text: 'See which parameters they are.', command: 'export TORCH_DISTRIBUTED_DEBUG=DETAIL' }
    : {
        text: 'See which parameters they are, in the script.',
        command: `names = [n for n, p in model.named_parameters() if p.requires_grad]; print([names[i] for i in (${places},)])`,
      }
}

export const TRAINING: readonly Known[] = [
  {
    // The kernels of FlashAttention 3 are for Hopper; some builds of xFormers choose them elsewhere too.
    pattern: /CUDA error \([^)\n]{0,260}[\\/]hopper[\\/][^)\n]{1,60}\): (?:invalid argument|no kernel image)/,
    title: 'A kernel for Hopper was started on another GPU',
    says: 'FlashAttention 3 runs on GPUs of compute capability 9.0 (H100, H200) alone.',
    remedies: (_, { situation: { text } }) => [
      /sd-scripts|kohya/.test(text)
        ? { text: 'Let PyTorch compute the attention: the one in place of the other.', command: '--sdpa (without --xformers)' }
        : { text: 'Let PyTorch compute the attention (scaled_dot_product_attention), without xFormers or FlashAttention 3.' },
      { text: 'Or take a release of xFormers that belongs to the installed PyTorch, which chooses the kernel by the GPU.', command: 'python -m xformers.info' },
    ],
  },
  {
    pattern: /Expected to have finished reduction in the prior iteration|parameters that were not used in producing the loss/,
    says: 'Some parameters took no part in the loss of this step, so DistributedDataParallel waits for their gradients.',
    remedies: (_, { situation: { text } }) => [
      // torch/csrc/distributed/c10d/reducer.cpp: it already looks for them.
      /Since `find_unused_parameters=True` is enabled|\bDistributedDataParallel\([^\n]{0,200}find_unused_parameters=True|ddp_find_unused_parameters["']?[:= ]{1,3}(?:"?[Tt]rue)/.test(
        text,
      )
        ? {
            text: 'DDP looks for them already (find_unused_parameters=True): let all that forward returns go into the loss, a part that is not needed times 0.',
          }
        : {
            text: 'Let DDP look for them: find_unused_parameters=True (Trainer: ddp_find_unused_parameters; Lightning: the strategy ddp_find_unused_parameters_true). It costs a walk through the graph in each step.',
          },
      { text: 'Better, where a branch of the model is never used: take it out or freeze it (requires_grad_(False)) before DDP wraps the model.' },
      unusedParameters(text),
    ],
  },
  {
    pattern: /Expected to mark a variable ready only once/,
    says: 'A parameter got its gradient twice in one step: mostly gradient checkpointing with re-entrant backward under DDP, or a layer that is used twice.',
    remedies: () => [
      { text: "Use checkpointing without re-entrance: use_reentrant=False (Trainer: gradient_checkpointing_kwargs={'use_reentrant': False})." },
      { text: 'With find_unused_parameters=True, set it to False: checkpointing and that do not go together.' },
      { text: 'If the graph is the same in each step: static_graph=True for DistributedDataParallel.' },
    ],
  },
  {
    pattern: /Cannot copy out of meta tensor/,
    says: 'Its weights were never loaded: the meta device holds shapes only.',
    remedies: () => [
      { text: 'Do not move a model that was loaded with device_map or low_cpu_mem_usage: leave out .to() and .cuda(), it is placed already.' },
      {
        text: "Where parts did not fit the GPU and were left on the meta device: use a smaller or quantized model, or device_map='auto' with all GPUs visible.",
      },
      { text: 'For an empty model that gets its weights later: to_empty(device=…), then load_state_dict(…, assign=True).' },
    ],
  },
  {
    pattern: /tokenizer does not have a padding token|no padding token is defined/,
    remedies: only('Give the tokenizer a padding token before the first batch; most take the one that ends a text (pad_token from eos_token).'),
  },
  {
    pattern: /model type `([\w.-]{1,60})`[^]{0,80}does not recognize this architecture/,
    says: 'The model is newer than the installed Transformers.',
    remedies: (match) => [
      { text: `Update Transformers to a release that knows ${match[1]}.`, command: 'python -m pip install --upgrade transformers' },
      { text: 'If no release knows it yet: its page on the hub says what it needs (trust_remote_code=True runs code of its authors).' },
    ],
  },
  {
    pattern: /train_batch_size is not equal to micro_batch_per_gpu \* gradient_acc_step \* world_size\s{1,3}(\d{1,7}) != (\d{1,5}) \* (\d{1,5}) \* (\d{1,5})/,
    remedies: ([, , micro, steps, world]) => [
      {
        text: `Set train_batch_size to ${Number(micro) * Number(steps) * Number(world)} (${micro} × ${steps} × ${world}), or leave it out: DeepSpeed then computes it ("auto" under the Trainer).`,
      },
    ],
  },
  {
    pattern: /does not require grad and does not have a grad_fn/,
    says: 'Nothing that can be trained leads to the loss.',
    remedies: () => [
      { text: 'With gradient checkpointing over a frozen model (LoRA): call model.enable_input_require_grads() before the training.' },
      {
        text: 'Else see that the forward pass is not under torch.no_grad(), that parameters are not all frozen, and that nothing calls .item(), .detach() or NumPy before the loss.',
      },
    ],
  },
  {
    pattern: /Trying to backward through the graph a second time/,
    remedies: only(
      'What is kept from the step before (a hidden state, a running sum, a loss) still hangs on its graph: detach it (.detach(), .item()). Only where two losses share a graph: retain_graph=True for the first.',
    ),
  },
  {
    pattern: /modified by an inplace operation/,
    remedies: () => [
      { text: 'Let autograd name the forward call whose result was overwritten: torch.autograd.set_detect_anomaly(True), for a few steps.' },
      {
        text: 'Replace changes in place there (+=, x[...] =, relu_, inplace=True) by new tensors. Under DDP, buffers that are sent in each forward do it too: broadcast_buffers=False.',
      },
    ],
  },
  {
    pattern: /Attempting to unscale FP16 gradients/,
    remedies: only(
      'A gradient scaler needs parameters in float32: load the model without torch_dtype=float16 (LoRA: cast the trained parameters to float32), or use bf16 without a scaler.',
    ),
  },
  {
    pattern: /No inf checks were recorded for this optimizer/,
    remedies: only(
      'No parameter of this optimizer got a gradient in this step: see that it holds those of the model that is trained, and that the loss reaches them.',
    ),
  },
  {
    pattern: /optimizer got an empty parameter list/,
    remedies: only(
      'All parameters are frozen, or the layers are in a plain list: use nn.ModuleList, and make the optimizer after the parameters to train are set.',
    ),
  },
  {
    pattern: /num_samples should be a positive integer value, but got num_samples=0/,
    says: 'The data set is empty.',
    remedies: only('See that its path, its split and its filters are right where the job runs: print len(dataset) before the loader is made.'),
  },
  {
    pattern: /Expected more than 1 value per channel when training/,
    remedies: only('Batch normalization got a batch of one: leave the last batch out (drop_last=True), or use batches of at least two on each GPU.'),
  },
  {
    pattern: /stack expects each tensor to be equal size|^invalid argument 0: Sizes of tensors must match except in dimension 0/,
    remedies: only('The samples of a batch differ in size: pad or crop them, or give the DataLoader a collate_fn that does.'),
  },
  {
    pattern: /finished its bootstrapping phase|freeze_support\(\)/,
    remedies: only("Children started by spawn import the script again: put what runs under if __name__ == '__main__':."),
  },
  {
    pattern: /^Can't get attribute '(\w{1,80})' on <module '([\w.]{1,120})'/,
    title: ([, name, module = '']) =>
      module === '__main__' || module === '__mp_main__'
        ? `The file needs ${name} of the script that saved it`
        : `The file needs ${name}, which the installed ${module.split('.')[0]} does not have`,
    remedies: ([, name, module = '']) => {
      const top = module.split('.')[0] ?? module
      return module.startsWith('__m')
        ? [
            {
              text: `Define or import ${name} in the script that loads the file: pickle stores only its name. Better, save the state_dict, which needs no class.`,
            },
          ]
        : [
            {
              text: `Update ${top}: the file was saved with a newer release, or by a fork whose code must be used in its place.`,
              command: `python -m pip install --upgrade ${top}`,
            },
            {
              text: `See from where ${top} is imported: a copy in the project hides the installed one.`,
              command: `python -c "import ${top}; print(${top}.__file__, getattr(${top}, '__version__', ''))"`,
            },
          ]
    },
  },
  {
    // A function inside of a library's own: only the way in which processes are started can be changed.
    pattern: /^Can't (?:get|pickle) local object '(\w{1,80})\.\w{1,80}\.<locals>/,
    when: ({ facts }) => facts.frame === undefined,
    title: ([, owner]) => `A function inside of ${owner} cannot go to another process`,
    says: 'Processes that are started by spawn (Windows, or set_start_method) get only what pickle can write.',
    remedies: () => [
      { text: 'Prepare the data in one process: dataset_num_proc or num_proc None, num_workers=0.' },
      {
        text: 'On Linux leave set_start_method("spawn") out, if the program sets it before: fork hands such functions over. With CUDA in use by then, prepare the data first.',
      },
    ],
  },
  {
    pattern: /^Can't (?:get|pickle) (?:local object|attribute)|^(?:cannot|can't) pickle ['_]/i,
    remedies: only(
      'What goes to a child process must be picklable: define functions and classes at the top of a module, no lambdas and no open files in the data set; num_workers=0 shows whether it is that.',
    ),
  },
  {
    pattern: /[Dd]efault process group has not been initialized/,
    remedies: () => [
      {
        text: 'Start the script with the launcher, and call init_process_group before what is distributed.',
        command: 'torchrun --standalone --nproc-per-node=<GPUS> <SCRIPT>',
      },
      { text: 'On one GPU without it: leave out what needs a group (DDP, SyncBatchNorm, a distributed sampler).' },
    ],
  },
  {
    pattern: /^index out of range in self/,
    says: 'An index is larger than the table of an embedding.',
    remedies: () => [
      { text: 'Token ids above the vocabulary: after adding tokens call model.resize_token_embeddings(len(tokenizer)), and use the tokenizer of this model.' },
      { text: 'Or inputs longer than the positions that the model has: truncate them (truncation=True, max_length).' },
    ],
  },
  {
    pattern: /can(?:no|')t train a model that has been loaded in (?:8-bit|4-bit|8-bit or 4-bit) precision on (?:multiple|a different) devices?/,
    remedies: only(
      "Each process must load the quantized model on its own GPU: device_map={'': int(os.environ.get('LOCAL_RANK', 0))}; with one process leave only one GPU visible.",
    ),
  },
  {
    pattern: /Target modules .{0,200} not found in the base model/,
    remedies: only("Name linear layers that this model has (print(model) lists them), or let PEFT take all: target_modules='all-linear'."),
  },
  {
    pattern: /model did not return a loss from the inputs/,
    remedies: only(
      'The batch has no labels: add a column "labels" (for causal models a copy of input_ids, or DataCollatorForLanguageModeling(mlm=False)), and keep it (remove_unused_columns=False).',
    ),
  },
  {
    pattern: /Tracer(?:Bool|Array|Integer)ConversionError|ConcretizationTypeError|Abstract tracer value encountered/,
    remedies: only(
      'Inside jit values are not known: use jax.lax.cond, jnp.where or lax.fori_loop for control flow, or mark the argument as static (static_argnums).',
    ),
  },
  {
    pattern:
      /quantized with \w{1,60} but you are passing a|'BitsAndBytesConfig' object has no attribute 'get_loading_attributes'|Blockwise quantization only supports 16\/32-bit floats, but got torch\.u?int8/,
    says: 'The weights on disk are quantized already, and the program asks to quantize them again.',
    remedies: only('Load the model as it is: leave out load_in_4bit, load_in_8bit and quantization_config; or take the model that is not quantized.'),
  },
  {
    pattern: /Unsupported head_dim|only supports? head (?:dimension|dim|size)s?\b|head_dim (?:must|should) be/,
    remedies: only(
      "This attention has no kernel for the model's size of a head: choose another one for it (attn_implementation='sdpa', or the server's attention backend).",
    ),
  },
  {
    pattern: /Distributed package doesn't have NCCL built in/,
    says: 'This PyTorch was built without NCCL: there is none for Windows, macOS and the CPU.',
    remedies: (_, { situation }) => [
      { text: "Use Gloo (backend='gloo'; Lightning: process_group_backend='gloo'), or run on one GPU without a process group." },
      situation.system === 'windows'
        ? { text: 'For NCCL run it in WSL 2 or on Linux.' }
        : { text: 'On Linux with GPUs: install the PyTorch build for CUDA.', command: printTorch('torch.version.cuda') },
    ],
  },
]
