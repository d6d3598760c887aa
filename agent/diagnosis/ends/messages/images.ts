// Errors of programs that make pictures (ComfyUI, Stable Diffusion web UIs) with one reason each: a file in the wrong loader, a part that is missing.
import type { Known } from './message.ts'

const listed = (words = ''): readonly string[] => [...words.matchAll(/'(\w{1,60})'/g)].flatMap(([, name]) => name ?? [])

export const IMAGES: readonly Known[] = [
  {
    // diffusers, pipeline_utils.py
    pattern: /Pipeline <class '([\w.]{3,200})'> expected [[{]([^\]}]{3,600})[\]}], but only \{([^}]{0,600})\} were passed/,
    title: ([, pipeline = '', wanted, given]) => {
      const there = listed(given)
      return `The model lacks parts of ${pipeline.split('.').at(-1)}: ${listed(wanted)
        .filter((each) => !there.includes(each))
        .join(', ')}`
    },
    says: 'Its model_index.json does not name them: the folder is of another pipeline, not in the format of diffusers, or the installed diffusers is older or newer than it.',
    remedies: ([, pipeline = '', wanted, given]) => {
      const there = listed(given)
      const [lacking = ''] = listed(wanted).filter((each) => !there.includes(each))
      return [
        {
          text: `Take the repository that the page of the model names for diffusers (often with "Diffusers" in its name), and the pipeline of its model_index.json in place of ${pipeline.split('.').at(-1)}.`,
        },
        {
          text: 'Update diffusers and transformers: pipelines gain parts between releases.',
          command: 'python -m pip install --upgrade diffusers transformers',
        },
        { text: `Or load the part yourself and pass it: from_pretrained(…, ${lacking}=…).` },
      ]
    },
  },
  {
    pattern: /Unexpected architecture type in GGUF file(?:, expected one of ([\w, ]{2,200}) but got|:) '([\w.-]{1,40})'/,
    title: ([, , type]) => `The GGUF loader does not take a model of type ${type}`,
    says: 'The custom nodes that load GGUF are older than the model, the file was made for other nodes, or it is a language model in the loader of diffusion models.',
    remedies: ([, , type]) => [
      /qwen\d?(?:vl)?$|llama|gemma|t5|clip|mistral/.test(type ?? '') && {
        text: 'A text encoder belongs into the loader for CLIP (CLIPLoader GGUF), not into that of the UNet.',
      },
      { text: 'Update the custom nodes ComfyUI-GGUF (ComfyUI-Manager), then restart ComfyUI.' },
      { text: 'Else take the file from the page that those nodes name: some are made for other nodes only.' },
    ],
  },
  {
    pattern: /(?:clip input is invalid|CLIP input is invalid): None/,
    title: 'The checkpoint holds no text encoder',
    says: 'CLIP is empty: the file holds only the diffusion model, as those of Flux and newer ones do, or only a part was saved.',
    remedies: () => [
      {
        text: 'Load the text encoders by their own node (CLIPLoader, DualCLIPLoader) of the type of the model, and connect them in place of the CLIP of the checkpoint.',
      },
      { text: 'A file of the diffusion model alone belongs into models/diffusion_models, loaded by Load Diffusion Model.' },
    ],
  },
  {
    pattern: /VAE is invalid: None|does not contain a valid vae/i,
    title: 'The checkpoint holds no VAE',
    says: 'The file holds no part that turns latents into pictures.',
    remedies: () => [{ text: "Load the model's VAE by the node Load VAE (files in models/vae), and connect that." }],
  },
  {
    pattern: /(?:Could not|Unable to) detect model type of:? ?([^\n]{3,200})/,
    title: ([, path]) => `ComfyUI does not know what ${path?.split(/[\\/]/).at(-1)} is`,
    says: 'It is in the wrong loader, newer than this ComfyUI, or damaged.',
    remedies: () => [
      { text: 'Put a file into the folder and loader of its kind: a whole checkpoint, the diffusion model alone, a LoRA, a VAE or a text encoder.' },
      { text: 'Update ComfyUI: new models come with its releases.' },
      { text: 'Compare its size and hash with those of its page.' },
    ],
  },
  {
    pattern: /^Unknown model architecture!/,
    title: 'ComfyUI-GGUF does not know this model',
    remedies: () => [{ text: 'Update the custom nodes ComfyUI-GGUF and ComfyUI itself; if it stays, the model needs support in ComfyUI first.' }],
  },
]
