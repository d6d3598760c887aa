// Messages of PyTorch where a model is on several GPUs or is compiled: DDP, FSDP2, DTensor, groups of NCCL, and kernels of Triton.
import { printTorch } from '../../faults/remedies/environment.ts'
import type { EndContext } from '../end-kind.ts'
import type { Known } from './message.ts'

const TORCHRUN = 'torchrun --nnodes=<HOSTS> --nproc-per-node=<GPUS> --rdzv-id=1 --rdzv-backend=c10d --rdzv-endpoint=<FIRST_HOST>:29500 <SCRIPT>'

/** Who starts torchrun's agent. */
const ACCELERATE = /\baccelerate launch\b|[\\/]bin[\\/]accelerate"|[\\/]accelerate[\\/]commands[\\/]launch\.py/
const LAUNCH =
  'accelerate launch --num_machines <HOSTS> --num_processes <GPUS_OF_ALL> --machine_rank <RANK> --main_process_ip <FIRST_HOST> --main_process_port 29500 --rdzv_backend static <SCRIPT>'

const rendezvous =
  (...patterns: readonly RegExp[]) =>
  ({ error, situation }: EndContext): boolean =>
    error?.name?.startsWith('Rendezvous') === true && patterns.every((pattern) => pattern.test(situation.text))

/** ProcessGroupWrapper.cpp, TORCH_DISTRIBUTED_DEBUG=DETAIL: each rank tells the others which collective it is about to run. */
const MISMATCH =
  /Rank (\d{1,5}) is running collective: CollectiveFingerPrint\((?:SequenceNumber=(\d{1,12}), ?)?OpType=(\w{1,40})(?:, TensorShape=(\[[\d, ]{0,80}\]))?[^\n]{0,300}?but Rank (\d{1,5}) is running collective: CollectiveFingerPrint\((?:SequenceNumber=\d{1,12}, ?)?OpType=(\w{1,40})(?:, TensorShape=(\[[\d, ]{0,80}\]))?/

export const DISTRIBUTED: readonly Known[] = [
  {
    pattern: /DistributedDataParallel device_ids and output_device arguments only work with[^\n]{0,300}module parameters \{device\(type='cpu'\)\}/,
    title: 'The model is still on the CPU where DDP wraps it',
    remedies: () => [{ text: 'Move it to the GPU of its rank first: model.to(local_rank), then DistributedDataParallel(model, device_ids=[local_rank]).' }],
  },
  {
    pattern: MISMATCH,
    title: 'Two ranks ran different collectives',
    says: ([, one, number, operation, shape, other, others, otherShape]) => {
      const same = operation === others
      const what = (name: string | undefined, of: string | undefined): string => `${name}${same && of !== undefined ? ` of ${of}` : ''}`
      return `At ${number === undefined ? 'the same place' : `collective ${number}`} rank ${one} was in ${what(operation, shape)}, and rank ${other} in ${what(others, otherShape)}.`
    },
    remedies: ([, , , operation, , , others]) => [
      operation === others
        ? { text: 'Bring the tensor to one shape on all ranks before that call: pad, or gather the sizes first (all_gather of the lengths).' }
        : {
            text: 'Let all ranks make the same calls in the same order: look for a condition on the rank, the data or an expert (MoE) around a collective, and for uneven numbers of batches.',
          },
    ],
  },
  {
    pattern: /^/,
    when: rendezvous(/--standalone\b/, /--nnodes[= ](?!1\b)\S/),
    title: '--standalone is for one host, and more were asked for',
    remedies: () => [{ text: 'Leave --standalone out, and name the first host the same on each of them.', command: TORCHRUN }],
  },
  {
    pattern: /^/,
    when: rendezvous(/master_addr is only used for static rdzv_backend/),
    title: 'torchrun did not use the address of the first host',
    says: 'With --rdzv-backend=c10d it takes the address from --rdzv-endpoint, and passes over --master-addr: each host waited for itself.',
    remedies: (_, { situation }) => [
      ACCELERATE.test(situation.text)
        ? { text: 'Accelerate writes it in words of its own; the same on each host, but for the rank.', command: LAUNCH }
        : { text: 'Name the first host and a free port of it in --rdzv-endpoint, the same on each host.', command: TORCHRUN },
      !ACCELERATE.test(situation.text) && { text: 'Or leave --rdzv-backend out: then --master-addr, --master-port and --node-rank count.' },
    ],
  },
  {
    pattern: /Must flatten tensors with uniform requires_grad/,
    title: 'FSDP found frozen and trained weights in one group',
    says: 'FSDP flattens the weights of a layer into one tensor, so all of them must be trainable or none.',
    remedies: () => [
      { text: 'Let it keep the original parameters: use_orig_params=True (accelerate: fsdp_use_orig_params: true).' },
      { text: 'Or wrap adapters apart from the frozen weights: auto_wrap_policy=peft.utils.other.fsdp_auto_wrap_policy(model).' },
    ],
  },
  {
    // torch/distributed/fsdp/_state_dict_utils.py, and the same check before: NO_SHARD, to which FSDP falls back on one GPU.
    pattern: /`?(local|sharded)_state_dict`{0,2} can only be used when parameters are flatten and sharded/,
    title: 'FSDP has no shards to save or load',
    says: 'FSDP shards nothing in a group of one GPU, or with NO_SHARD, and then has no shards to save or load.',
    remedies: () => [
      { text: 'On one GPU: take the whole state, StateDictType.FULL_STATE_DICT (Accelerate: fsdp_state_dict_type: FULL_STATE_DICT).' },
      { text: 'Or start it on two GPUs or more, with a strategy that shards (FULL_SHARD).', command: 'torchrun --nproc-per-node=<GPUS> <SCRIPT>' },
    ],
  },
  {
    // FullyShardedDataParallel lays all parameters of a layer into one tensor of floats.
    pattern: /Cannot flatten integer dtype tensors/,
    title: 'FSDP cannot hold weights of 8 bits',
    remedies: () => [
      {
        text: 'Load the model in bf16 (load_in_8bit: false), or in 4 bits, stored as the type of the rest: adapter: qlora, load_in_4bit: true, bnb_4bit_quant_storage=torch.bfloat16.',
      },
      { text: 'Or use DDP or DeepSpeed in place of FSDP, where the model of 8 bits fits one GPU.' },
    ],
  },
  {
    // https://github.com/Dao-AILab/flash-attention/issues/523, https://github.com/triton-lang/triton/issues/2404
    pattern: /Pointer argument \(at \d{1,3}\) cannot be accessed from Triton/,
    title: 'A Triton kernel got a tensor that is not on its GPU',
    says: 'Triton runs on the current GPU of the process (cuda:0, unless it was set): the tensor is on another one, or on the CPU.',
    remedies: (_, { situation }) => [
      {
        text: 'Start one process for each GPU, and set its GPU before the model is loaded: torch.cuda.set_device(int(os.environ["LOCAL_RANK"])).',
      },
      {
        text: `One process with a model over several GPUs (device_map="auto")${/accelerate[\\/]hooks/.test(situation.text) ? ' (as here)' : ''}: put the model on one GPU (device_map={"": 0}), or switch off what uses Triton kernels (Liger, flash-linear-attention, fused rotary).`,
      },
      { text: 'If it is the CPU: parts were offloaded, or an input was not moved. Compare x.device with the device of the layer.' },
    ],
  },
  {
    // https://github.com/pytorch/pytorch/issues/167074
    pattern: /Operator (\w[\w.]{2,80}) does not have a sharding strategy registered/,
    title: ([, name]) => `PyTorch cannot split ${name} over the GPUs`,
    says: 'DTensor, which FSDP2 and tensor parallelism use, has no rule for this operation in the installed release.',
    remedies: () => [
      { text: 'Update PyTorch: each release adds rules for more operations.', command: printTorch('torch.__version__') },
      { text: 'Under torch.compile: leave it out for the module that fails; it brings operations that the program itself does not call.' },
      { text: 'Else compute that step on plain tensors: x.full_tensor(), or x.to_local() where each GPU may work on its own part.' },
    ],
  },
  {
    pattern: /FSDP parameters should be materialized from meta device before training[^]{0,120}?: \[([^\]\n]{1,400})/,
    title: ([, names = '']) => `${names.split(',').length === 1 ? 'A parameter has' : `${names.split(',').length} parameters have`} no values when FSDP begins`,
    says: 'The model was made on the meta device, which holds shapes only, and these were not loaded afterwards.',
    remedies: ([, names = '']) => [
      {
        text: 'After fully_shard: model.to_empty(device="cuda"), then load the weights (set_model_state_dict, or load_state_dict with DTensors) and compute the buffers again.',
      },
      {
        text: `Compare the names with those in the checkpoint (${names.split(',')[0]?.replaceAll("'", '').trim()}): another prefix, or tied weights that are saved once, leave them out.`,
      },
      { text: 'Or make the model on the CPU or the GPU with its weights, and call fully_shard then.' },
    ],
  },
  {
    pattern: /INTERNAL ASSERT FAILED at "[^"\n]{0,200}\breducer\.cpp/,
    title: 'DDP lost count of its gradients',
    says: 'It expects one backward for each forward of the wrapped model.',
    remedies: () => [
      {
        text: 'Call the wrapped model itself in each forward whose loss goes backward (not model.module), and run one backward for each: other forwards belong under torch.no_grad().',
      },
      { text: 'Gradient checkpointing without re-entrance: use_reentrant=False.' },
      { text: 'Where the graph is the same in each step: static_graph=True for DistributedDataParallel.' },
    ],
  },
  {
    // The name of the compiler that DDP puts in between.
    pattern: /backend='compile_fn' raised/,
    title: 'torch.compile cannot split the model for DDP',
    says: 'Under DDP it cuts the graph into pieces, one for each bucket of gradients, and that failed; changing shapes are a frequent reason.',
    remedies: () => [
      { text: 'Let it compile the model in one piece: torch._dynamo.config.optimize_ddp = False, before the first step.' },
      { text: 'Or compile for fixed shapes: torch.compile(model, dynamic=False), and pad the batches to few lengths.' },
      { text: 'Or update PyTorch.', command: printTorch('torch.__version__') },
    ],
  },
  {
    // https://github.com/pytorch/pytorch/pull/195758
    pattern: /Parent communicator missing in eager initialization mode/,
    title: 'A group of ranks was split off one that is not connected',
    says: 'NCCL makes the new communicator out of that of its parent, which has none yet, or was destroyed.',
    remedies: () => [
      {
        text: 'Let the parent connect at once: init_process_group("nccl", device_id=torch.device("cuda", local_rank)), and the same for each group that is split further.',
      },
      { text: 'Or run one collective on it before (torch.distributed.barrier()).' },
    ],
  },
  {
    // https://github.com/pytorch/pytorch/pull/143765
    pattern: /expected size \d{1,12}==\d{1,12}, stride \d{1,12}==\d{1,12} at dim=\d/,
    title: 'Compiled code got a tensor of another shape or layout',
    says: 'torch.compile asks each operation beforehand what it returns, and one returned another thing.',
    remedies: () => [
      { text: 'See whether it runs without torch.compile; use it so until the cause is found.', command: 'export TORCH_COMPILE_DISABLE=1' },
      {
        text: 'An operation of your own or of an extension (attention, Mamba): let its register_fake return the size and strides of the real one, which torch.library.opcheck compares; or update the extension.',
      },
      { text: 'Else update PyTorch.', command: printTorch('torch.__version__') },
    ],
  },
  {
    pattern: /must be Tensor, not BlockMask/,
    title: 'The mask of FlexAttention went to another attention',
    says: 'Parts of the model use different attentions, and they share one mask.',
    remedies: () => [
      {
        text: 'Set one for the whole model: attn_implementation="sdpa" (or "flex_attention"), also in the configurations of its parts (text_config, vision_config).',
      },
      {
        text: 'Code that changes the attention of a model (a patch, a trainer) must fit the installed Transformers: update both.',
        command: 'python -m pip show transformers',
      },
    ],
  },
]
