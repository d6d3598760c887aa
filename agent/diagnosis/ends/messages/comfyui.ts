// Messages of ComfyUI and the web UIs for diffusion models: workflows that are not valid, and parts that belong to different base models.
import { applicationOf } from '../applications.ts'
import type { EndContext } from '../end-kind.ts'
import type { Known } from './message.ts'
import { ofRows, type Row } from './rows.ts'

const images = ({ situation: { programs } }: EndContext): boolean => programs.has('comfyui') || programs.has('sd_webui')
/** What a text encoder gives, by its width. */
const WIDTHS: Readonly<Record<string, string>> = { '768': 'SD 1.5 (CLIP-L)', '1024': 'SD 2', '1280': 'CLIP-G', '2048': 'SDXL', '4096': 'T5 (Flux, SD 3, Wan)' }
const LATENTS: Readonly<Record<string, string>> = { '4': 'SD 1.5 and SDXL', '9': 'inpainting models', '16': 'Flux, SD 3 and Wan', '48': 'Wan 2.2 5B' }
const named = (table: Readonly<Record<string, string>>, size: string): string => (table[size] === undefined ? size : `${size}: ${table[size]}`)

const ROWS: readonly Row[] = [
  [
    /Prompt has no outputs/,
    'Add an output to the workflow (Save Image, Preview Image) or switch the one that is there on again (not muted, not bypassed).',
    undefined,
    undefined,
    'The workflow has no output node',
  ],
  [
    /[Nn]ode types were not found|missing_node_type|Cannot execute because (?:a )?node .{1,80} (?:does not exist|is missing)/,
    'Install the missing nodes (Manager: Install Missing Custom Nodes) and restart ComfyUI; where they are installed, look for IMPORT FAILED at its start.',
    undefined,
    undefined,
    'The workflow uses nodes that are not installed',
  ],
]
export const COMFYUI: readonly Known[] = [
  {
    // comfy-aimdo reads weights into host memory that is locked.
    pattern: /HostBuffer\.\w{3,40} failed/,
    title: 'ComfyUI could not read weights into locked host memory',
    says: 'Locked (pinned) host memory is limited, and none was left: by the system, or because host memory is full.',
    remedies: () => [
      { text: 'Start ComfyUI with --disable-pinned-memory; it then moves weights to the GPU somewhat slower.' },
      { text: 'Update ComfyUI, and close what fills host memory; on Windows let the system manage the page file.' },
    ],
  },
  ...ofRows(ROWS),
  {
    pattern: /outputs failed validation|prompt_outputs_failed_validation|Failed to validate prompt for output/,
    title: 'The workflow is not valid',
    remedies: (_, { situation: { text } }) => {
      const value = /Value not in list: (\w{1,40}): '([^'\n]{1,160})' not in (\[\]|\(list|\[)/.exec(text)
      const missing = /Required input is missing:? ?(\w{0,60})/.exec(text)
      return [
        value !== null && {
          text: /name|model|ckpt|lora|vae|clip/i.test(value[1] ?? '')
            ? `Put ${value[2]} into the folder of models that the node (${value[1]}) reads, or choose a file that is there; then press R to read the folders again.`
            : `Choose another value for ${value[1]}: this release does not have ${value[2]}.`,
        },
        missing !== null && { text: `Connect the input${missing[1] === '' ? '' : ` ${missing[1]}`} that has no link: the console names the node above.` },
        value === null &&
          missing === null && { text: "The lines above, in ComfyUI's console, name the node and its input: a link, a file or a value that is not there." },
      ]
    },
  },
  {
    pattern: /Error\(s\) in loading state_dict for (\w{2,60})/,
    when: images,
    title: ([, name]) => `The file is no ${name}, as which it was loaded`,
    says: 'The program took the model for one of another type, from the setting of the node or from the names in the file.',
    remedies: (_, { situation }) => [
      {
        text: `Update the program: it must know the model to distinguish it from others.${situation.system === 'windows' && situation.programs.has('comfyui') ? ' The portable ComfyUI: update/update_comfyui.bat.' : ''}`,
        ...(situation.system === 'windows' ? {} : { command: 'git pull' }),
      },
      { text: 'Set the type of the loader (text encoder, CLIP) to that of the model, and take the file that its page names for this node.' },
    ],
  },
  {
    pattern: /^ERROR lora \S{3,200} The size of tensor|^ERROR lora \S{3,200} shape /m,
    title: 'The LoRA does not fit the model that is loaded',
    says: 'ComfyUI leaves out each layer that does not fit, and goes on: the picture is made without it.',
    remedies: () => [
      { text: 'Use a LoRA that was made for this base model (SD 1.5, SDXL, Flux, Wan …) and its size: its page names it.' },
      { text: 'Update ComfyUI: it must know the format of the LoRA and of the model.' },
    ],
  },
  {
    pattern: /expected mat1 and mat2 to have the same dtype|must have the same dtype, but got|expected scalar type \w{2,12} but found/,
    when: images,
    remedies: (_, context) => {
      const { first } = applicationOf(context) ?? {}
      return [
        first,
        {
          text: 'Load the parts of the model in one precision: set the dtype of the loaders (model, text encoders, VAE) to the same one, and leave options that force one for a part (--force-fp16, --bf16-unet, --fp16-vae …) out.',
        },
      ]
    },
  },
  {
    pattern: /mat1 and mat2 shapes cannot be multiplied \((\d{1,9})x(\d{1,9}) and (\d{1,9})x(\d{1,9})\)/,
    when: images,
    title: 'Parts of the workflow belong to different base models',
    says: ([, , has = '', wants = '']) => `The model takes ${named(WIDTHS, wants)}, and got ${named(WIDTHS, has)}.`,
    remedies: () => [
      { text: 'Use a checkpoint, text encoder, LoRA, ControlNet and IP-Adapter of one base model (SD 1.5, SDXL, Flux …): their pages name it.' },
      {
        text: 'See which one it is: bypass LoRA, ControlNet and IP-Adapter one after the other. With a text encoder loaded on its own: set its type to that of the model.',
      },
    ],
  },
  {
    pattern: /weight of size \[[^\]]{1,60}\], expected input\[[^\]]{1,60}\] to have (\d{1,6}) channels, but got (\d{1,6}) channels/,
    when: images,
    title: 'Latent image and model do not fit together',
    says: ([, wants = '', has = '']) =>
      `The model takes latents with ${wants} channels (${LATENTS[wants] ?? 'of its own kind'}), and got ${has} (${LATENTS[has] ?? 'of another'}).`,
    remedies: () => [{ text: 'Use the VAE and the empty-latent node of this model, and a ControlNet of the same base model.' }],
  },
]
