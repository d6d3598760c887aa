// Messages of Megatron-LM, distributed checkpoints, Keras and the trackers of experiments with one reason each.
import { only, type Known } from './message.ts'
import { ofRows, type Row } from './rows.ts'

const KERAS_NEWER = "python -m pip install --upgrade keras tensorflow; python -c 'import keras; print(keras.__version__)'"
const WORLD = /[Ww]orld[_ ]size \(?(\d{1,6})\)? (?:is not|must be) divisible by (?:(\d{1,6})\b|the product of)?/
const ROWS: readonly Row[] = [
  [
    /Different dict keys encountered in `apply_factory_merges`/,
    'Load it with the program that wrote it, or convert it: Megatron-LM and Megatron-Bridge keep the model beside checkpoint_version and iteration, NeMo 2 below state_dict.',
    undefined,
    'The entries at the top of the checkpoint are not those that this program writes.',
    'The checkpoint is of another program',
  ],
  [
    /No module named ['"]megatron\.(?:training|legacy|post_training|inference)\b/,
    'Clone Megatron-LM in the release that the program asks for, and let Python find it (ms-swift: MEGATRON_LM_PATH).',
    'git clone -b <RELEASE> https://github.com/NVIDIA/Megatron-LM.git; export PYTHONPATH=$PWD/Megatron-LM MEGATRON_LM_PATH=$PWD/Megatron-LM',
    'The package megatron-core brings megatron.core alone; the rest is in the repository Megatron-LM.',
    'megatron-core is only a part of Megatron-LM',
  ],
  [
    // https://github.com/EleutherAI/gpt-neox/issues/934
    /cannot import name ['"]?helpers(?:_cpp)?['"]? from ['"](?:megatron|nemo)\b|No module named ['"]megatron[\w.]{1,60}\.helpers(?:_cpp)?['"]/,
    'Compile them where the job runs (make, g++, the headers of Python and pybind11 must be there): run make in the folder that holds helpers.cpp.',
    'python -m pip install pybind11; make -C <MEGATRON>/megatron/core/datasets',
    'Megatron reads its data by functions in C++, which make builds at the first start, and that failed.',
    'The data helpers of Megatron are not compiled',
  ],
  [
    /last epoch number of samples exceeded max value|last_epoch_num_samples/,
    'Delete the index files that Megatron-LM cached beside the data (*_indexmap_*.npy, or the folder of --data-cache-path): they belong to other samples or another number of them. With very little data lower --train-iters.',
    undefined,
    undefined,
    'The cached index of the data does not fit the run',
  ],
  [
    /First dimension of the tensor should be divisible by tensor parallel size/,
    'Bring the sequence length that the model really sees to a multiple of the tensor parallel size (pad the batch to --seq-length), or leave out --sequence-parallel.',
    undefined,
    undefined,
    'The sequence cannot be split over the tensor parallel ranks',
  ],
  [
    /TransformerEngine only supports softmax compute in FP32/,
    'Start it with the option that Transformer Engine needs.',
    '--attention-softmax-in-fp32',
    undefined,
    'Transformer Engine computes the softmax in float32 only',
  ],
  [
    /(?:parallel|data) group is not initialized|_PARALLEL_GROUP is not None/,
    'Call initialize_model_parallel (Megatron: initialize_megatron) after init_process_group and before the model is built, in every process.',
    undefined,
    undefined,
    "Megatron's parallel groups were not set up",
  ],
  [
    /seq_len <= (?:\d+|\w+) INTERNAL ASSERT FAILED|sk <= 2048|key_seq_len <= \d+ INTERNAL ASSERT/,
    'Use flash attention for longer sequences (--use-flash-attn), or leave the fused softmax out (--no-masked-softmax-fusion): its kernel ends at that length.',
    undefined,
    undefined,
    'The sequence is longer than the fused softmax kernel takes',
  ],
  [
    /2D state_dict is under development/,
    'Update PyTorch: distributed checkpoints of FSDP with tensor parallelism came with 2.5.',
    'python -c "import torch; print(torch.__version__)"',
    undefined,
    'This PyTorch cannot save FSDP with tensor parallelism',
  ],
  [
    /Missing key in checkpoint state_dict/,
    'Compare the names in the checkpoint with those of the job: states of the optimizer were not saved, or a wrapper (FSDP, torch.compile: _orig_mod) changed the names. To load what there is: DefaultLoadPlanner(allow_partial_load=True).',
    undefined,
    undefined,
    'The checkpoint lacks what the job asks it for',
  ],
  [
    /could not be deserialized properly|Could not locate (?:class|function) '|Unknown (?:layer|loss function|metric|optimizer|object|activation function|initializer): /,
    "Hand the class to the load (custom_objects={'Name': Name}), or register it with @keras.saving.register_keras_serializable() before; a class of Keras itself means that the file is of another version of Keras.",
    undefined,
    undefined,
    'Keras does not know a class of the saved model',
  ],
  [
    /Unrecognized keyword arguments(?: passed to \w+)?: .{0,20}(?:batch_shape|optional|quantization_config)|Unknown dtype policy|'?DTypePolicy'?/,
    'Load the model with the Keras that saved it (this one is older): update Keras, or save the model again with the older one.',
    KERAS_NEWER,
    undefined,
    'The model was saved by a newer Keras',
  ],
  [
    /objects? could not be loaded\. Example error|expected \d+ variables?, but received \d+ variables? during loading/,
    'Build the model as it was when it was saved: layers of one model reused in another, made outside of __init__, or a build() that makes no variables lose theirs. Or load the weights alone into the same code: model.load_weights(file).',
    undefined,
    undefined,
    'Saved weights do not fit the layers of the model',
  ],
  [
    /Unknown compute capability\. (?:Ensure PyTorch with CUDA|Specify the target)/,
    'Install the PyTorch for CUDA and see that it finds the GPU; where there is none while it is built (a login node, docker build) name the capability: TCNN_CUDA_ARCHITECTURES=<CAPABILITY> (86 for 8.6).',
    'python -c "import torch; print(torch.version.cuda, torch.cuda.is_available())"',
    undefined,
    'PyTorch sees no GPU for tiny-cuda-nn',
  ],
]

export const MEGATRON: readonly Known[] = [
  ...ofRows(ROWS),
  {
    // megatron/core/parallel_state.py; older releases name the factors in the message.
    pattern: WORLD,
    title: ([, ranks]) => (ranks === '1' ? 'One process cannot hold a copy of the model' : `${ranks} processes cannot hold whole copies of the model`),
    says: ([, , size]) =>
      `One copy of the model is spread over ${size === undefined ? 'as many ranks as the parallel sizes multiplied' : `${size} ranks`} (tensor times pipeline times context parallel), and the number of ranks must be a multiple of that.`,
    remedies: ([, ranks, size]) => [
      {
        text:
          ranks === '1'
            ? 'Only one process was started: start one for each GPU (torchrun, or the number of devices and nodes in the recipe of NeMo).'
            : 'Start another number of processes, one for each GPU.',
        ...(ranks === '1' && size !== undefined ? { command: `torchrun --nproc-per-node=${size} <SCRIPT>` } : {}),
      },
      {
        text:
          ranks === '1'
            ? 'Or set the tensor, pipeline, context and expert parallel sizes to 1.'
            : `Or lower the parallel sizes until their product divides ${ranks}: tensor, pipeline, context and expert parallel.`,
      },
    ],
  },
  {
    pattern: /Could not find compatible tinycudann extension for compute capability (\d{2,3})/,
    title: 'tiny-cuda-nn was built for another GPU',
    remedies: ([, capability]) => [
      {
        text: `Build tiny-cuda-nn for this GPU (${capability}).`,
        command: `TCNN_CUDA_ARCHITECTURES=${capability} python -m pip install --force-reinstall --no-build-isolation 'git+https://github.com/NVlabs/tiny-cuda-nn/#subdirectory=bindings/torch'`,
      },
    ],
  },
  {
    pattern: /api_key not configured \(no-tty\)/,
    title: 'Weights & Biases has no API key here',
    says: 'In a job no one can type it in.',
    remedies: () => [
      { text: 'Log in once on that host, or give the job WANDB_API_KEY through its environment or a secret.', command: 'wandb login' },
      { text: 'Or train without it: report_to="none" in the Trainer, or by its environment.', command: 'export WANDB_MODE=disabled' },
    ],
  },
  {
    // The state of an optimizer stays where it was loaded.
    pattern: /at least two devices|same device/,
    when: ({ error }) => /[\\/]torch[\\/]optim[\\/]/.test(error?.frames.at(-1)?.file ?? ''),
    title: 'The optimizer and the model are on different devices',
    remedies: only(
      'Move the model to the GPU before the optimizer is made, and load the optimizer after it; a state that was loaded before: move its tensors (for s in optimizer.state.values(): for k, v in s.items(): if torch.is_tensor(v): s[k] = v.to(device)).',
    ),
  },
  {
    pattern: /^(\w{1,80})\.__init__\(\) missing \d{1,2} required positional arguments?: (.{1,120})/,
    when: ({ error }) => error?.frames.some(({ file }) => /lightning/.test(file)) === true,
    title: ([, name]) => `Lightning lacks the arguments of ${name}`,
    says: 'load_from_checkpoint builds the model again, and the checkpoint does not hold its arguments.',
    remedies: ([, , names]) => [
      {
        text: `Pass them: load_from_checkpoint(path, ${names?.replaceAll("'", '').replaceAll(' and ', ', ')}=…). For later checkpoints call self.save_hyperparameters() in __init__.`,
      },
    ],
  },
]
