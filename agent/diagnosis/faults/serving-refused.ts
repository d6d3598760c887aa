// What programs that run models refuse before they compute: a file or node that is not there, a model that is too large or too new.
import { KERNEL_LOG } from './host-oom/remedies.ts'
import { ruleFamily } from './parts/rules.ts'

/** Where ComfyUI looks for the file of an input. */
const FOLDERS: Readonly<Record<string, string>> = {
  ckpt_name: 'checkpoints',
  unet_name: 'diffusion_models',
  vae_name: 'vae',
  lora_name: 'loras',
  control_net_name: 'controlnet',
  clip_name: 'text_encoders',
  clip_name1: 'text_encoders',
  clip_name2: 'text_encoders',
  style_model_name: 'style_models',
}

export const servingRefused = ruleFamily({
  id: 'serving-refused',
  kind: 'config_error',
  literals: [
    'Value not in list: ',
    'Cannot execute because node ',
    'Model loading aborted due to insufficient system resources',
    'all backends returned error',
    'unknown projector type',
  ],
  rules: [
    {
      pattern: /Value not in list: (\w{2,40}): '([^'\n]{1,200})' not in (?:\[|\(list)/,
      kind: 'file_missing',
      severity: 'critical',
      title: ({ match }) => `ComfyUI does not find ${match[2]}`,
      verdict: ({ match }) => `The workflow names ${match[2]} for ${match[1]}, and ComfyUI does not have it, so nothing was computed.`,
      remedies: ({ match }) => [
        {
          text: `Choose one in the node that ComfyUI lists, or put the file into models/${FOLDERS[match[1] ?? ''] ?? '<FOLDER>'} (or a folder of extra_model_paths.yaml) and reload the page.`,
        },
      ],
    },
    {
      pattern: /Cannot execute because node ([\w +./()-]{1,80}) does not exist/,
      kind: 'missing_dependency',
      severity: 'critical',
      title: ({ match }) => `ComfyUI has no node ${match[1]}`,
      verdict: ({ match }) =>
        `The workflow uses the node ${match[1]}, which ComfyUI does not know: its custom nodes are not installed, or could not be loaded at the start.`,
      remedies: [
        { text: 'Look at the start of the log: "IMPORT FAILED" names custom nodes that could not be loaded, and why.' },
        { text: 'Else install them (ComfyUI-Manager: Install Missing Custom Nodes), then restart ComfyUI.' },
      ],
    },
    {
      pattern:
        /Failed to load model "([^"\n]{1,120})": Model loading aborted due to insufficient system resources|Model loading aborted due to insufficient system resources/,
      kind: 'host_memory',
      severity: 'critical',
      title: 'LM Studio did not load the model: it looks too large',
      verdict: ({ match }) => `LM Studio estimates that ${match[1] ?? 'the model'} does not fit the free memory of GPU and host, and did not try to load it.`,
      remedies: [
        { text: 'Load a smaller quantization or model, or a shorter context; unload other models first.' },
        { text: 'If memory really is free: lower the guardrails for loading in the settings. The system may then run out of memory.' },
      ],
    },
    {
      pattern: /could not load model - all backends returned error: \[([\w-]{1,40})\][^\n]{0,200}?(?:error reading from server: EOF|code = Unavailable)/,
      kind: 'worker_died',
      severity: 'critical',
      title: ({ match }) => `LocalAI's backend ${match[1]} ended`,
      verdict: ({ match }) => `The backend ${match[1]} of LocalAI ended while it loaded the model. Its own words are not in this text.`,
      remedies: [
        { text: 'Let LocalAI print what its backends say, and load the model again.', command: 'export DEBUG=true' },
        KERNEL_LOG,
        { text: 'See that the image or backend is the one for this GPU and its driver; on a CPU without AVX it ends at once.' },
      ],
    },
    {
      pattern: /unknown projector type: (\w{2,60})/,
      severity: 'critical',
      title: 'llama.cpp does not know this kind of projector',
      verdict: ({ match }) => `The file for images (mmproj) is of type ${match[1]}, which this release of llama.cpp does not know: the model is newer.`,
      remedies: ({ situation }) => [
        { text: `Update ${situation().programs.has('ollama') ? 'Ollama' : 'llama.cpp, or the program that brings it'}.` },
        { text: 'Without images the model runs as it is: leave --mmproj out.' },
      ],
    },
  ],
})
