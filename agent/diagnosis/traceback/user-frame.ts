// Which frame is the user's own: the deepest that is neither of a library, of Python itself, of a launcher, nor generated.
import type { Block, Frame } from './traceback.ts'

const LIBRARY =
  /[\\/](?:site|dist)-packages[\\/]|\.egg[\\/]|[\\/]transformers_modules[\\/]|[\\/]node_modules[\\/]|[\\/]pip-(?:install|req-build|build-env|wheel)-\w{4,16}[\\/]|[\\/]\.cargo[\\/](?:registry|git)[\\/]|[\\/](?:go|gopath)[\\/]pkg[\\/]mod[\\/]|[\\/]vendor[\\/](?:[\w.-]{1,60}\.(?:io|com|org|net|in|dev))[\\/]|[\\/]share[\\/]lua[\\/]\d|[\\/]ov[\\/]pkg[\\/]|[\\/](?:pyspark|py4j)[\w.-]{0,20}\.zip[\\/]|[\\/]\.julia[\\/](?:packages|compiled|juliaup)[\\/]|[\\/](?:stable[-_]diffusion[-_]webui|sd-webui)[\w.-]{0,40}[\\/]extensions(?:-builtin)?[\\/]/i
/** Folders of the standard library: lib/python3.11, Python37\lib, anaconda3\lib, envs\NAME\lib, python/3.8/lib. */
const STANDARD =
  /[\\/]lib(?:64)?[\\/]python\d?(?:\.\d{1,2})?[\\/]|[\\/]c?python[-\d.]{1,12}(?:\+\d{1,8})?-[\w-]{3,60}[\\/]lib[\\/]|[\\/]python\d{0,3}(?:[._]\d{1,2}){0,3}[\\/](?:\d[\d.]{0,8}[\\/])?lib[\\/]|[\\/](?:ana|mini|mamba)(?:conda|forge)\d?[\\/](?:envs[\\/][^\\/]{1,60}[\\/])?lib[\\/]|[\\/]envs[\\/][^\\/]{1,60}[\\/]lib[\\/]|[\\/]lib[\\/](?:multiprocessing|concurrent|asyncio|importlib|logging|urllib|unittest|ctypes)[\\/]|[\\/]lib[\\/](?:runpy|threading|subprocess|socket|queue|pickle|shutil|pathlib|contextlib|argparse)\.py$|[\\/]usr[\\/]lib(?:64)?[\\/]python|python\d{1,3}\.zip[\\/]|[\\/]julia[\\/](?:stdlib|base)[\\/]|[\\/](?:usr|opt|toolcache|go)[\\/](?:[\w.-]{1,20}[\\/]){0,3}src[\\/](?:runtime|os|net|syscall|internal|testing|reflect|encoding|sync|io)[\\/][^\n]{1,80}\.go$|^\.[\\/]\w{1,60}\.jl$/i
const GENERATED = /^\\?<(?!ipython)|^\?|[\\/]torchinductor_|[\\/]triton[\\/]cache[\\/]|\.pyx$|\.pxi$|\.(?:so|h|hpp|cc|cpp|cuh?|pxd)$|:codegen\(|^\(unknown/
/** A PyTorch built in its source tree, and Ray's compiled half. */
const SOURCE_TREE =
  /[\\/]torch[\\/](?:_[a-z]\w*|nn|distributed|utils|autograd|cuda|optim|fx|jit|onnx|ao|library|serialization\.py|tensor\.py|functional\.py|multiprocessing)(?:[\\/.]|$)/
/** A script in the bin folder of a project is its user's; what an environment has there was installed. */
const LAUNCHER =
  /[\\/]bin[\\/][\w.-]{1,60}(?<!\.py)$|(?:[\\/]usr(?:[\\/]local)?|[\\/]\.local|[\\/]opt[\\/][\w.-]{1,60}|[\\/]envs[\\/][\w.-]{1,60}|conda\d?|(?:mini|mamba)forge\d?|[\\/][\w.-]{0,40}env[\w.-]{0,20})[\\/]bin[\\/][\w.-]{1,60}$|[\\/](?:pydevd?|debugpy|_pydev_imps|_pydevd_bundle)[\\/]|pydevd?\.py$|[\\/]torch[\\/]distributed[\\/](?:run|launch)\.py$|[\\/](?:accelerate|deepspeed)[\\/](?:commands|launcher)[\\/]|[\\/]\.vscode/

/** Programs that are cloned and run as they are: their files, and those of their extensions, are not their user's. */
const APPLICATION =
  /[\\/](?:ComfyUI[\w.-]{0,20}|sgl-workspace|sglang|vllm-workspace|text_generation_server|stable-diffusion-webui[\w-]{0,20}|sd-webui[\w-]{0,20}|Fooocus|text-generation-webui[\w.-]{0,20}|tabbyAPI|lmdeploy|TensorRT-LLM|kserve-workspace|InvokeAI|axolotl|LLaMA-?Factory|kohya_ss|sd-scripts|ai-toolkit|OneTrainer|unsloth_compiled_cache|FastChat|SimpleTuner|diffusion-pipe|musubi-tuner|fluxgym|[Mm]egatron-[Ll][Mm]|NeMo)[\\/]|^koboldcpp\.py$|^(?:router|launcher)[\\/](?:\w{1,20}[\\/])?src[\\/]|^(?:backends|core|server)[\\/](?:[\w-]{1,30}[\\/])?src[\\/][^\n]{1,80}\.rs$/i

export const isUserFrame = ({ file, line }: Frame): boolean =>
  line !== undefined && ![LIBRARY, STANDARD, GENERATED, SOURCE_TREE, LAUNCHER, APPLICATION].some((pattern) => pattern.test(file))

/** The deepest place in such a program: where only its own code ran, that is where it failed. */
export const applicationFrame = (frames: readonly Frame[]): Frame | undefined =>
  frames.findLast(
    ({ file, line }) => line !== undefined && APPLICATION.test(file) && ![LIBRARY, STANDARD, GENERATED, LAUNCHER].some((pattern) => pattern.test(file)),
  )

/** Packages that people clone and install in place: a frame there may be the user's own change, so it stays the user's; what it refuses may be the caller's fault. */
const CHECKED_OUT =
  'transformers|diffusers|accelerate|peft|trl|deepspeed|ultralytics|detectron2|mmcv|mmdet|mmengine|timm|pytorch_lightning|unsloth|xformers|bitsandbytes|keras|jax|flax'
const CHECKOUT = new RegExp(
  `[\\\\/]src[\\\\/](${CHECKED_OUT})[\\\\/]|[\\\\/](${CHECKED_OUT})[\\\\/](?!(?:examples?|scripts?|tests?|src)[\\\\/])(?:\\w{1,60}[\\\\/]){1,6}\\w{1,60}\\.py$`,
)
export const checkoutOf = (file: string): string | undefined => {
  const match = CHECKOUT.exec(file)
  return match?.[1] ?? match?.[2]
}

/** `train.py:188`, as people say it. */
export const frameName = ({ file, line }: Frame): string => `${file.replace(/^.*[\\/]/, '')}:${line ?? '?'}`

const isSame = (one: Block['raised'], other: Block['raised']): boolean => one !== undefined && one.name === other?.name && one.message === other.message
/** Python's own word for what was raised within: the place is there. */
const FROM_WITHIN = /^(?:coroutine|(?:async )?generator) raised Stop/

/** The deepest frame of the user's own: of the block that says what ended the program, else of its neighbours, the nearest first. */
export function userFrame(blocks: readonly Block[], from: Block | undefined): Frame | undefined {
  let at = from === undefined ? blocks.length - 1 : blocks.indexOf(from)
  // An exception that is its own cause comes from another process, where the frames are.
  while (at > 0 && blocks[at]?.link === 'cause' && (isSame(blocks[at]?.raised, blocks[at - 1]?.raised) || FROM_WITHIN.test(blocks[at]?.raised?.message ?? '')))
    at -= 1
  const order = [
    at,
    ...blocks
      .map((_, index) => index)
      .filter((index) => index !== at)
      .sort((a, b) => Math.abs(a - at) - Math.abs(b - at) || b - a),
  ]
  for (const index of order) {
    const found = blocks[index]?.frames.findLast(isUserFrame)
    if (found !== undefined) return found
  }
  return undefined
}
