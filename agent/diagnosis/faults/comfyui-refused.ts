// What ComfyUI refuses before it computes: a file, a node or an input that is not there, or does not fit (execution.py, validate_inputs).
import { ruleFamily } from './parts/rules.ts'
import type { Piece } from './remedies/plan.ts'

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
const critical = { severity: 'critical' } as const
const nodes: readonly Piece[] = [
  { text: 'Look at the start of the log: "IMPORT FAILED" names custom nodes that could not be loaded, and why.' },
  { text: 'Else install them (ComfyUI-Manager: Install Missing Custom Nodes), then restart ComfyUI.' },
]

export const comfyuiRefused = ruleFamily({
  id: 'comfyui-refused',
  kind: 'config_error',
  literals: [
    'Value not in list: ',
    'Cannot execute because node ',
    'Cannot execute because a node is missing',
    'Custom validation failed for node: ',
    'Required input is missing: ',
    'Return type mismatch between linked nodes: ',
    ' smaller than min of ',
    ' bigger than max of ',
  ],
  rules: [
    {
      ...critical,
      pattern: /Value not in list: (\w{2,40}): '([^'\n]{1,200})' not in (?:\[|\(list)/,
      kind: 'file_missing',
      title: ({ match }) => `ComfyUI does not find ${match[2]}`,
      verdict: ({ match }) => `The workflow names ${match[2]} for ${match[1]}, and ComfyUI does not have it, so nothing was computed.`,
      remedies: ({ match }) => [
        {
          text: `Choose one in the node that ComfyUI lists, or put the file into models/${FOLDERS[match[1] ?? ''] ?? '<FOLDER>'} (or a folder of extra_model_paths.yaml) and reload the page.`,
        },
      ],
    },
    {
      ...critical,
      pattern: /Custom validation failed for node: (\w{2,40}) - Invalid (image|audio|video|\w{2,20}) file: ([^\n]{1,200}?\.\w{2,5})(?=\s|$)/,
      kind: 'file_missing',
      title: ({ match }) => `ComfyUI does not find the ${match[2]} ${match[3]?.trim()}`,
      verdict: ({ match }) => `The workflow loads ${match[3]?.trim()}, which is not in ComfyUI's folder of inputs, so nothing was computed.`,
      remedies: [
        { text: 'Choose or upload a file in that node; the name in a workflow from elsewhere is only an example. Files of inputs are in ComfyUI/input.' },
      ],
    },
    {
      ...critical,
      pattern: /Cannot execute because node ([\w +./()-]{1,80}) does not exist/,
      kind: 'missing_dependency',
      title: ({ match }) => `ComfyUI has no node ${match[1]}`,
      verdict: ({ match }) =>
        `The workflow uses the node ${match[1]}, which ComfyUI does not know: its custom nodes are not installed, or could not be loaded at the start.`,
      remedies: nodes,
    },
    {
      ...critical,
      pattern: /Cannot execute because a node is missing the class_type property\.: Node ID '#?([\w:]{1,20})'/,
      kind: 'missing_dependency',
      title: ({ match }) => `ComfyUI does not know node ${match[1]} of the workflow`,
      verdict: ({ match }) =>
        `Node ${match[1]} came without a type: it is of custom nodes that are not installed (drawn red in the workflow), or the file is not in the format for the API.`,
      remedies: [...nodes, { text: 'A workflow that a program sends must be saved with "Export (API)".' }],
    },
    {
      ...critical,
      pattern: /Required input is missing: (\w{1,60})/,
      title: ({ match }) => `A node of ComfyUI has no ${match[1]}`,
      verdict: ({ match }) => `The input ${match[1]} of a node is not connected, so nothing was computed.`,
      remedies: [{ text: 'Connect it (the node is outlined in red), or remove or bypass the node. After an update of custom nodes create that node again.' }],
    },
    {
      ...critical,
      pattern: /Return type mismatch between linked nodes: (\w{1,60}), received_type\((\w{1,40})\) mismatch input_type\((\w{1,40})\)/,
      title: ({ match }) => `Two nodes of ComfyUI do not fit: ${match[2]} into ${match[3]}`,
      verdict: ({ match }) => `The input ${match[1]} takes ${match[3]} and is connected to ${match[2]}.`,
      remedies: [{ text: 'Connect it again; the nodes may be of another version than the workflow was made with.' }],
    },
    {
      ...critical,
      pattern: /Value (-?[\d.]{1,20}) (?:smaller than min of|bigger than max of) (-?[\d.]{1,20})(?:: |[^\n]{0,20}?)(\w{0,60})/,
      title: 'A value in a node of ComfyUI is out of range',
      verdict: ({ match }) => `${match[3] === '' || match[3] === undefined ? 'A node' : match[3]} is set to ${match[1]}, and the limit is ${match[2]}.`,
      remedies: ({ match }) => [
        { text: `Set it to ${match[2]} or within. Often the values of a node moved by one place after an update: then create the node again.` },
      ],
    },
  ],
})
