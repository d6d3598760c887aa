// Messages of JAX, TensorFlow, data loading, compilers and the libraries around PyTorch with one reason each.
import type { Known } from './message.ts'
import { ofRows, type Row } from './rows.ts'

const JAX = "python -m pip install --upgrade 'jax[cuda12]'"
const ROWS: readonly Row[] = [
  [
    /Unable to JIT load the async_io op/,
    'Install libaio with its headers, and delete what DeepSpeed compiled before (~/.cache/torch_extensions); or offload to the CPU in place of a disk. On Debian and Ubuntu:',
    'sudo apt-get install -y libaio-dev; ds_report | grep async_io',
    'DeepSpeed did not find libaio, which offloading to a disk needs.',
  ],
  [
    /Unable to JIT load the \w+ op/,
    'See what this operation lacks here (compiler, CUDA toolkit, libraries): the WARNING lines above name it too.',
    'ds_report',
  ],
  [
    /Physical devices cannot be modified after being initialized|Memory growth cannot differ between GPU devices/,
    'Set memory growth for all GPUs at the very start, before anything uses one: tf.config.experimental.set_memory_growth(gpu, True) for each, or by the environment.',
    'export TF_FORCE_GPU_ALLOW_GROWTH=true',
  ],
  [
    /No module named 'torchvision\.transforms\.functional_tensor'/,
    'Change the import in the package that the traceback names to torchvision.transforms.functional (basicsr has no newer release), or go back to torchvision before 0.17 with the PyTorch that belongs to it.',
    undefined,
    'torchvision 0.17 removed this module.',
  ],
  [
    /No module named 'numpy\._core/,
    'Install NumPy 2: what was pickled with it, or written for it, needs it. Or save the file again with NumPy 1.',
    "python -m pip install 'numpy>=2'",
    'numpy._core came with NumPy 2, and NumPy 1 is installed.',
  ],
  [
    /Assertion failed\) !?_?(?:src|img|image|ssize)\.empty\(\)|Assertion failed\) !_src\.empty/,
    'See whether cv2.imread found the image: it returns None for a path that is wrong or a file that it cannot read. Check for None there and print the path.',
    undefined,
    'OpenCV got an empty image.',
  ],
  [
    /Expected a 'cuda' device type for generator but found 'cpu'/,
    "Leave torch.set_default_device('cuda') (or set_default_tensor_type) out, or give the DataLoader generator=torch.Generator(device='cuda').",
    undefined,
    'The default device is the GPU, and the sampler draws on the CPU.',
  ],
  [
    /(?:cusparse|cublas_v2|cusolverDn|curand_kernel|cuda_runtime(?:_api)?|cuda_fp16|nvrtc|cufft)\.h: No such file/,
    'Install the CUDA toolkit with its headers in the version of PyTorch, and set CUDA_HOME to it: a runtime image, and the nvcc of conda alone, lack them (images ending in -devel have them).',
    'python -c "import torch; print(torch.version.cuda)"; echo "$CUDA_HOME"',
  ],
  [
    /Recomputed values for the following tensors have different metadata/,
    'Run forward and backward under the same conditions: the same torch.autocast, no state that the forward changes (use_cache=False, no random branches). use_reentrant=True checks nothing, so that it only hides it.',
    undefined,
    'Activation checkpointing ran the forward a second time, and it went another way.',
  ],
  [
    /`rope_scaling` must be a dictionary with two fields|untagged enum (?:ModelWrapper|PyPreTokenizerTypeWrapper|PyNormalizerTypeWrapper)/,
    'Update Transformers and Tokenizers: the files of the model were written by newer releases.',
    'python -m pip install --upgrade transformers tokenizers',
  ],
  [
    /^'pytorch-lightning_version'/,
    'The file is no checkpoint of Lightning, but plain weights: load it with model.load_state_dict(torch.load(path)), not with load_from_checkpoint or ckpt_path.',
  ],
  [
    /Dataset '[^'\n]{1,200}'[^\n]{0,40}(?:error|images not found)|\w+:' images not found/,
    'Name the data file by its absolute path (data=/…/data.yaml), and correct path, train and val in it: a relative path counts from the folder of data sets in the settings of Ultralytics.',
    'yolo settings; ls -la <DATASET>',
    undefined,
    'Ultralytics does not find the data set',
  ],
  [
    /expected mat1 and mat2 to have the same dtype|must have the same dtype, but got Float and (?:BFloat16|Half)/,
    'Bring all parts to one type. To infer: load model, adapter and other parts with one torch_dtype, or call them under torch.autocast("cuda"). To train: autocast (Trainer: bf16=True or fp16=True), with 4-bit weights also bnb_4bit_compute_dtype and prepare_model_for_kbit_training. Else cast the input: x.to(layer.weight.dtype).',
  ],
  [
    /load_best_model_at_end requires the save and eval(?:uation)? strategy to match/,
    'Give both the same strategy (save_strategy and eval_strategy both "epoch", or both "steps" with save_steps a multiple of eval_steps), or leave load_best_model_at_end out.',
  ],
  [
    /Dataset scripts are no longer supported|`trust_remote_code` is not supported anymore/,
    'Take a copy of the data set in Parquet (most have one on the hub; revision="refs/convert/parquet" is made by it), or the package datasets before 4.0, which runs code of the data set: only where you trust it.',
    "python -m pip install 'datasets<4'",
    undefined,
    'datasets 4 runs no code of a data set',
  ],
  [
    /All the data files must have the same columns/,
    'Bring all files to the same columns, or name those that belong together (data_files=, one configuration each). The message names the file and its columns.',
  ],
  [/jaxlib version \S{1,20} is (?:newer|older) than/, 'Install jax, jaxlib and the CUDA plugin in one command, so that they belong together.', JAX],
  [
    // docs.jax.dev, jax.export: platforms.
    /The current platform (?:CUDA|ROCM|GPU) is not among the platforms required by the module: \[CPU\]/i,
    'Run the exported model on the CPU (hide the GPU from TensorFlow), or export it again for both: platforms=("cpu", "cuda") in jax.export, native_serialization_platforms in jax2tf.convert.',
    'export CUDA_VISIBLE_DEVICES=-1',
    'The model was exported from JAX for the CPU alone.',
    'The exported model runs on the CPU only',
  ],
  [
    /Encountered an unexpected tracer/,
    'Do not keep values that are computed inside jit or grad anywhere outside (self.x, a global, a list): return them from the function, and set jax_check_tracer_leaks to find where.',
    'export JAX_CHECK_TRACER_LEAKS=1',
  ],
  [
    /^Unrecognized data type: x=/,
    'Convert the lists to arrays before fit: np.array(x), np.array(y). Keras 3 takes arrays, tensors, tf.data, DataLoader and PyDataset.',
    undefined,
    undefined,
    'Keras does not take data of this type',
  ],
  [
    /`target` and `output` must have the same (?:rank|shape)[^]{0,80}target\.shape=\((?:\d+|None),\)/,
    "The labels are numbers of classes: use loss='sparse_categorical_crossentropy', or turn them into one-hot rows (keras.utils.to_categorical).",
    undefined,
    undefined,
    'The labels do not have the shape that the loss takes',
  ],
  [
    /File format not supported: filepath=.{0,200}Keras 3 only supports/,
    'Load a SavedModel with keras.layers.TFSMLayer (inference only), or use Keras 2 (TF_USE_LEGACY_KERAS=1 and the package tf-keras) and save it again as .keras.',
    'python -m pip install tf-keras; export TF_USE_LEGACY_KERAS=1',
  ],
  [
    /Descriptors cannot be created directly/,
    'Use an older protobuf until the package whose file ends in _pb2.py in the traceback has a release for the new one; or update that package.',
    "python -m pip install 'protobuf<=3.20.3'",
    'A package was generated for an older protobuf than the one that is installed.',
  ],
  [
    /default_collate: batch must contain .{0,80}NoneType/,
    'Let __getitem__ return no None: where a sample cannot be read, raise or take another one, or filter them out in a collate_fn.',
    undefined,
    'The data set returned None for a sample.',
  ],
  [
    /Some tensors share memory, this will lead to duplicate memory/,
    'Save with safetensors.torch.save_model or model.save_pretrained, which know shared tensors; the Trainer of older releases: save_safetensors=False.',
  ],
]

export const FRAMEWORKS: readonly Known[] = [
  ...ofRows(ROWS),
  {
    pattern: /image file is truncated|cannot identify image file(?: (['"])([^'"\n]{1,300}\.\w{2,5})\1)?/,
    title: ([, , path]) => (path === undefined ? undefined : `${path.split(/[\\/]/).at(-1)} is damaged or no image`),
    remedies: ([, , path]) => [
      {
        text: `${path === undefined ? 'A file of the data set is damaged or no image: find it (catch the error in __getitem__ and print the path), then fetch' : `Fetch ${path.replaceAll('\\\\', '\\')} again`} or remove it; a page of HTML, or a format that Pillow does not read (AVIF, HEIC), looks the same. Files that are only cut short are read as far as they go with PIL.ImageFile.LOAD_TRUNCATED_IMAGES = True.`,
      },
    ],
  },
]
