// Programs that are cloned and run as they are, and what is added to them: whose code failed, and how it is updated. Their user can correct a setting, not the code.
import type { Facts } from '../../model/facts.ts'
import type { Piece } from '../faults/remedies/plan.ts'
import { applicationFrame, frameName, isUserFrame } from '../traceback/user-frame.ts'
import type { EndContext } from './end-kind.ts'
import { packageOf } from './python-packages.ts'

/** ComfyUI's node packs and the web UI's extensions, by their folder. */
const ADDED = /[\\/](custom_nodes|extensions)[\\/]([\w.@ -]{1,80})[\\/]/
const APPLICATIONS: readonly (readonly [path: RegExp, name: string])[] = [
  [/[\\/]LLaMA-?Factory[\w.-]{0,20}[\\/]|[\\/]llamafactory[\\/]/i, 'LLaMA-Factory'],
  [/[\\/](?:kohya_ss|sd-scripts)[\w.-]{0,20}[\\/]/, "kohya's sd-scripts"],
  [/[\\/]axolotl[\\/]/, 'Axolotl'],
  [/[\\/](?:unsloth(?:_zoo)?|unsloth_compiled_cache)[\\/]/, 'Unsloth'],
  [/[\\/]ai-toolkit[\w-]{0,12}[\\/]/, 'AI Toolkit'],
  [/[\\/]SimpleTuner[\w-]{0,12}[\\/]/, 'SimpleTuner'],
  [/[\\/]diffusion-pipe[\w-]{0,12}[\\/]/, 'diffusion-pipe'],
  [/[\\/]musubi-tuner[\w-]{0,12}[\\/]/, 'musubi-tuner'],
  [/[\\/]OneTrainer[\w-]{0,12}[\\/]/, 'OneTrainer'],
  [/[\\/](?:ms-swift|swift)[\\/](?:swift|llm|trainers|cli)[\\/]/, 'ms-swift'],
  [/[\\/](?:stable-diffusion-webui|sd-webui)[\w.-]{0,30}[\\/]/, 'Stable Diffusion web UI'],
  [/[\\/]text-generation-webui[\w.-]{0,20}[\\/]/, 'text-generation-webui'],
  [/[\\/][Ff]ooocus[\w.-]{0,20}[\\/]/, 'Fooocus'],
  [/[\\/]FastChat[\w.-]{0,20}[\\/]/, 'FastChat'],
  [/[\\/]Megatron-LM[\w.-]{0,20}[\\/]/i, 'Megatron-LM'],
  [/[\\/]ComfyUI[\w. -]{0,20}[\\/]/i, 'ComfyUI'],
]
const CLONED = new Set([
  "kohya's sd-scripts",
  'AI Toolkit',
  'OneTrainer',
  'SimpleTuner',
  'diffusion-pipe',
  'musubi-tuner',
  'Stable Diffusion web UI',
  'text-generation-webui',
  'Fooocus',
  'ComfyUI',
])
const PACKAGED: Readonly<Record<string, string>> = {
  Unsloth: 'unsloth unsloth_zoo',
  Axolotl: 'axolotl',
  'LLaMA-Factory': 'llamafactory',
  'ms-swift': 'ms-swift',
}
/** An application that updates itself. */
const DESKTOP = /\.app[\\/]Contents[\\/]/
/** By these a program says what it does not accept. */
const CHECK = /^(?:ValueError|AssertionError|NotImplementedError)$/

export type Failed = { readonly first: Piece; readonly next: Piece; /** The advice for people's own code does not apply. */ readonly user?: true }

/** No frame is the user's own: the library whose function was called first, with what its user gave it. */
export function libraryOf({ error }: EndContext): Failed | undefined {
  if (error === undefined || error.frames.length === 0 || error.frames.some(isUserFrame)) return undefined
  // What called torch is not in the text where only its frames are.
  const name = error.frames.map(({ file }) => packageOf(file)).find((one) => one !== undefined && one !== 'torch')
  return name === undefined
    ? undefined
    : {
        first: {
          text: `Find what brings it: the same call with other input (one text, one image, a batch of 1) shows whether the input or ${name} is at fault.`,
        },
        next: { text: `Update ${name}, whose own code failed, and search its issues for this message.`, command: `python -m pip install --upgrade ${name}` },
      }
}

/** Where the application failed; advice asks for the user's own place alone. */
export function placeIn({ error }: EndContext): Facts {
  const frame = error === undefined ? undefined : applicationFrame(error.frames)
  return frame === undefined ? {} : { frame: frameName(frame) }
}

/** Whose code failed; undefined where it was the user's own, or a library alone. */
export function applicationOf({ error, situation }: EndContext): Failed | undefined {
  // A program that it started failed, or a file of the user's is in another encoding.
  if (error === undefined || error.name === 'CalledProcessError' || error.name === 'UnicodeDecodeError') return undefined
  // What is below the user's own code, if there is any.
  const frames = error.frames.slice(error.frames.findLastIndex(isUserFrame) + 1)
  const added = frames.toReversed().flatMap(({ file }) => ADDED.exec(file) ?? [])
  if (added.length >= 3) {
    const [, kind = '', name = ''] = added
    const node = kind === 'custom_nodes'
    return {
      user: true,
      first: {
        text: `Update ${name}, ${node ? 'the custom nodes' : 'the extension'} whose code failed${/^(?:Attribute|Import|Type|Key|Name)/.test(error.name ?? '') ? `: it was written for another release of ${node ? 'ComfyUI' : 'the web UI'} or of a library` : ''}.`,
        ...(/^[\w.@-]+$/.test(name) ? { command: `git -C ${kind}/${name} pull` } : {}),
      },
      next: {
        text: node
          ? `See whether it works without ${name}: start ComfyUI with --disable-all-custom-nodes, or take its nodes out of the workflow.`
          : `See whether it works without ${name}: switch the extension off and start again.`,
      },
    }
  }
  // The folder of an environment may have its name, too.
  const files = frames.map(({ file }) => file.replace(/^.*[\\/](?:site|dist)-packages(?=[\\/])/, '')).filter((file) => !/[\\/]lib[\\/]/i.test(file))
  const name = APPLICATIONS.find(([path]) => files.some((file) => path.test(file)))?.[1]
  if (name === undefined) return undefined
  const packages = PACKAGED[name]
  const update = {
    text: `Update ${name}, whose own code failed, and search its issues for this message.`,
    ...(CLONED.has(name) && !DESKTOP.test(files.join('\n'))
      ? { command: 'git pull' }
      : packages === undefined
        ? {}
        : { command: `python -m pip install --upgrade ${packages}` }),
  }
  // Unsloth puts its name before what it says to its user.
  const check =
    (CHECK.test(error.name ?? '') || /^\W{0,4}Unsloth: /.test(error.message)) &&
    error.message !== '' &&
    !/values to unpack|invalid literal|could not convert|^assert /.test(error.message)
  const now: Piece = name === 'ComfyUI' && situation.system === 'windows' ? { text: `${update.text} The portable version: update/update_comfyui.bat.` } : update
  return check
    ? {
        user: true,
        first: { text: `The message is a check of ${name}: correct the setting, the data set or the file that it names.` },
        next: { ...now, text: `If that is right as it is, update ${name}, and search its issues for this message.` },
      }
    : { user: true, first: now, next: undefined }
}
