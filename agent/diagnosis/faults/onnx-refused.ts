// What ONNX Runtime refuses: a model file that is not there, damaged or too new, an operator that it does not have, inputs that do not fit.
import { ruleFamily } from './parts/rules.ts'

const critical = { severity: 'critical' } as const
const UPDATE = 'pip install --upgrade onnxruntime-gpu'

export const onnxRefused = ruleFamily({
  id: 'onnx-refused',
  kind: 'config_error',
  literals: [
    'NO_SUCHFILE : ',
    'INVALID_PROTOBUF : ',
    'Protobuf parsing failed',
    'INVALID_ARGUMENT : ',
    'NOT_IMPLEMENTED : ',
    'INVALID_GRAPH : ',
    'Unsupported model IR version',
  ],
  rules: [
    {
      ...critical,
      kind: 'file_missing',
      pattern: /NO_SUCHFILE : Load model from (\S{1,200}) failed/,
      title: ({ match }) => `ONNX Runtime does not find ${match[1]}`,
      verdict: ({ match }) =>
        `There is no file ${match[1]} where the program looks; a name without a folder is looked for in the folder that it was started in.`,
      remedies: ({ match }) => [
        {
          text: 'Give the full path, or start the program in the folder of the model.',
          command: `ls -l ${/^[\w./-]+$/.test(match[1] ?? '') ? match[1] : '<FILE>'}`,
        },
      ],
    },
    {
      ...critical,
      kind: 'checkpoint_mismatch',
      pattern: /(?:INVALID_PROTOBUF : |onnx runtime error 7: )Load model from (\S{1,200}) failed/,
      title: 'A model file cannot be read',
      verdict: ({ match }) => `${match[1]} is no whole ONNX file: likely a download that was cut off, or only a pointer of Git LFS.`,
      remedies: ({ match }) => [
        {
          text: 'See its size: a file of a few hundred bytes that begins with "version https://git-lfs" is only a pointer (git lfs pull).',
          command: `ls -l ${/^[\w./-]+$/.test(match[1] ?? '') ? match[1] : '<FILE>'}`,
        },
        { text: 'Download it again.' },
      ],
    },
    {
      ...critical,
      pattern: /Unsupported model IR version: (\d{1,3}), max supported IR version: (\d{1,3})/,
      title: 'The model is newer than this ONNX Runtime',
      verdict: ({ match }) => `The file is of ONNX's IR version ${match[1]}, and this release reads up to ${match[2]}.`,
      remedies: ({ match }) => [
        { text: 'Update ONNX Runtime.', command: UPDATE },
        { text: `Or export the model again with an older onnx, or set ir_version to ${match[2]} and save it (onnx.save).` },
      ],
    },
    {
      ...critical,
      // ONNX Runtime itself puts these nodes between parts of a graph that it optimizes for a GPU.
      pattern: /NOT_IMPLEMENTED : Failed to find kernel for Memcpy(?:From|To)Host\(\d{1,3}\)/,
      title: 'The ONNX model was optimized for a GPU, and none is in use',
      verdict: 'The file holds copies between host and GPU (Memcpy), which the optimizer of a GPU session writes; this session has only the CPU.',
      remedies: [
        { text: "Give the session its GPU provider: providers=['CUDAExecutionProvider', 'CPUExecutionProvider'] (optimum: provider='CUDAExecutionProvider')." },
        { text: 'Or load the model that was not optimized, or optimize it for the CPU.' },
      ],
    },
    {
      ...critical,
      pattern: /NOT_IMPLEMENTED : (?:Failed to find kernel for|Could not find an implementation for) ([\w.]{1,60}(?:\(\d{1,3}\))?)/,
      title: ({ match }) => `ONNX Runtime has no ${match[1]}`,
      verdict: ({ match }) => `The model uses the operator ${match[1]}, which no execution provider of this session has for these types.`,
      remedies: [
        { text: 'Let the CPU take what the GPU lacks: name CPUExecutionProvider after the others in the list of providers.' },
        { text: 'Update ONNX Runtime, or export the model in another opset or number type (float16 and int8 have fewer operators).', command: UPDATE },
      ],
    },
    {
      ...critical,
      kind: 'shape_mismatch',
      pattern:
        /INVALID_ARGUMENT : Got invalid dimensions for input: (\S{1,60}) for the following indices\s{1,4}index: (\d{1,2}) Got: (\d{1,8}) Expected: (\d{1,8})/,
      title: ({ match }) => `Input ${match[1]} has another shape than the model takes`,
      verdict: ({ match }) => `Dimension ${match[2]} of ${match[1]} is ${match[3]}, and the model was exported with ${match[4]}.`,
      remedies: ({ match }) => [
        { text: `Bring the input to ${match[4]} in that dimension (resize, pad, other layout).` },
        { text: 'Or export the model with dynamic axes.' },
      ],
    },
    {
      ...critical,
      kind: 'dtype_mismatch',
      pattern: /INVALID_ARGUMENT : Unexpected input data type\. Actual: \((tensor\(\w{1,12}\))\) ?, expected: \((tensor\(\w{1,12}\))\)/,
      title: 'An input has another number type than the model takes',
      verdict: ({ match }) => `The input is ${match[1]}, and the model takes ${match[2]}.`,
      remedies: ({ match }) => [
        {
          text: `Convert it before the call (NumPy: astype; ${match[2]}: ${/int64/.test(match[2] ?? '') ? 'np.int64' : /float16/.test(match[2] ?? '') ? 'np.float16' : 'np.float32'}).`,
        },
      ],
    },
  ],
})
