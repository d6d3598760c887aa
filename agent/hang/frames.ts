// Tells a user's own code from that of Python and of installed packages.
import type { Frame } from './model.ts'

const LIBRARY = /(?:site|dist)-packages\/|\/lib\/python3\.\d+\/|^<frozen |^<string>|^<__array_function__/
/** py-spy cuts paths: what is below site-packages or Python's own library begins with the name of the package or module. */
const CUT_PACKAGE =
  /^(?:torch|torchvision|torchdata|transformers|accelerate|deepspeed|lightning|pytorch_lightning|lightning_fabric|numpy|pandas|urllib3|requests|botocore|aiohttp|huggingface_hub|webdataset|pyarrow|h5py|fsspec|s3fs|filelock|triton|horovod|torchcomms|jax|ray|vllm|sglang|wandb|click|hydra|asyncio|concurrent|multiprocessing|http|logging|json|importlib)\//
const CUT_MODULE =
  /^(?:threading|queue|ssl|socket|selectors|subprocess|socketserver|runpy|contextlib|functools|pathlib|shutil|pickle|tarfile|zipfile|gzip|pdb|bdb|os|tempfile|ftplib)\.py$/
export const isLibrary = ({ file }: Frame): boolean => LIBRARY.test(file) || CUT_PACKAGE.test(file) || CUT_MODULE.test(file)
export const ownFrame = (frames: readonly Frame[]): Frame | undefined => frames.find((frame) => !isLibrary(frame)) ?? frames[0]
