// What TensorRT's ONNX parser refuses: an operation that it does not have, a layer in a form that it does not take. Messages: onnx-tensorrt's ModelImporter.cpp and its FAQ.
import type { Facts } from '../../model/facts.ts'
import { joinedFrom } from '../joining.ts'
import { ruleFamily, type Rule, type Seen } from './parts/rules.ts'
import { around } from './parts/window.ts'
import type { Piece } from './remedies/plan.ts'

const NO_PLUGIN = /Plugin not found, are the plugin name|No importer registered for op: \w{1,80}\b(?!\. Attempting)/
/** `In function importTopK:` with the reason in the next line, or all in one line where a program prints the parser's errors. */
const REFUSED = /(?:In function \w{3,80}:\s{0,4}\[\d{1,2}\]|\(\w{3,80}\): (?:UN|IN)[A-Z]{3,14}_(?:NODE|GRAPH|VALUE):) (?:Assertion failed: )?([^\n]{1,400})/
const NO_OUTPUT = /Network must have at least one output/
const ABOVE = 60
const MODEL = /--onnx=["']?([\w./-]{1,160})|\b([\w./-]{1,160}\.onnx)\b/
const CONSTANT = /initializer|constant|is_weights|isWeights|\bweights\b/i

const model = (text: string): string => {
  const match = MODEL.exec(text)
  return match?.[1] ?? match?.[2] ?? '<MODEL>.onnx'
}
const last = (text: string, pattern: RegExp): string | undefined => [...text.matchAll(pattern)].at(-1)?.[1]
function operationOf({ text, at }: Pick<Seen, 'text' | 'at'>): string | undefined {
  const near = around(text, at, ABOVE, 2)
  return (
    last(near, /No importer registered for op: (\w{1,80})/g) ??
    last(near, /could not find plugin:? (\w{1,80})/g) ??
    last(near, /While parsing node number \d{1,6} \[(\w{1,80})/g) ??
    last(near, /\boperator: (\w{1,80}) \(/g)
  )
}
/** "Resize, node 214" */
function nodeOf({ text, at }: Pick<Seen, 'text' | 'at'>): string {
  const near = around(text, at, ABOVE, 2)
  const number = last(near, /While parsing node number (\d{1,6})/g) ?? last(near, /\bIn node (\d{1,6})\b/g)
  const operation = operationOf({ text, at }) ?? /\bimport([A-Z]\w{1,60})\b/.exec(near)?.[1]
  const words = [operation, number === undefined ? undefined : `node ${number}`].filter((word) => word !== undefined)
  return words.length === 0 ? 'a node' : words.join(', ')
}
/** What the assertion says in words, else its condition. */
const reasonOf = (words: string): string => /&&\s{0,4}"([^"]{3,300}?)\.?(?:"|$)/.exec(words)?.[1] ?? words.trim().slice(0, 160)

const newer: Piece = { text: 'Build with a newer TensorRT: releases add operations and forms of them.', command: 'pip list | grep -i tensorrt' }
const elsewhere: Piece = { text: 'Or run the model with ONNX Runtime and its TensorRT provider: what TensorRT does not take then runs in CUDA.' }
const base = { severity: 'critical', title: 'TensorRT cannot read the ONNX model', facts: (): Facts => ({}) } as const

const RULES: readonly Rule[] = [
  {
    ...base,
    pattern: NO_PLUGIN,
    verdict: (seen) => `TensorRT has no operation ${operationOf(seen) ?? 'of that name'} for ONNX, and no plugin of that name is loaded.`,
    remedies: (seen) => [
      {
        text: `If ${operationOf(seen) ?? 'it'} comes from a plugin library (mmdeploy, TensorRT's own plugins): load that before the model is parsed (Python: trt.init_libnvinfer_plugins, ctypes.CDLL; trtexec: --staticPlugins).`,
      },
      newer,
      {
        text: `Or export the model so that it does without ${operationOf(seen) ?? 'that operation'}: another opset, or the same computed with other operations.`,
      },
      elsewhere,
    ],
  },
  {
    ...base,
    pattern: REFUSED,
    // The same failure told in two lines; that of a missing plugin is the rule above.
    unless: ({ text, at, message }) => NO_PLUGIN.test(joinedFrom(text, at, 4)) || !/import|parse|TRT|nvonnx/i.test(message),
    verdict: (seen) => `TensorRT's ONNX parser stopped at ${nodeOf(seen)}: "${reasonOf(seen.match[1] ?? '')}".`,
    remedies: ({ match, situation }) => [
      CONSTANT.test(match[1] ?? '') && {
        text: 'Fold the constants first: TensorRT wants that input as a constant, and the export computes it in the graph.',
        command: `polygraphy surgeon sanitize ${model(situation().text)} --fold-constants --output model_folded.onnx`,
      },
      {
        text: 'See whether ONNX Runtime takes the file: if not, the export is at fault, not TensorRT.',
        command: `polygraphy run ${model(situation().text)} --onnxrt`,
      },
      { text: 'Export the model again with that layer in a form that TensorRT takes, or with another opset (torch.onnx.export(…, opset_version=17)).' },
      newer,
      elsewhere,
    ],
  },
  {
    ...base,
    title: 'TensorRT was given an empty network',
    pattern: NO_OUTPUT,
    unless: ({ text, at }) => REFUSED.test(around(text, at, ABOVE, 0)) || NO_PLUGIN.test(around(text, at, ABOVE, 0)),
    verdict: 'The network has no output. Most often the ONNX parser stopped before, and the program did not look at what parse() returned.',
    remedies: [
      { text: 'Print what the parser says: after parse(), parser.get_error(i) for each i below parser.num_errors.' },
      { text: 'Or let trtexec read the file: it prints the node at which it stops.', command: 'trtexec --onnx=<MODEL>.onnx' },
      { text: 'A network that is made in code needs network.mark_output() for its last tensor.' },
    ],
  },
]

export const onnxTensorrt = ruleFamily({
  id: 'onnx-tensorrt',
  kind: 'compile_error',
  literals: [
    'In function import',
    'In function parse',
    'Assertion failed: ',
    'Plugin not found, are the plugin',
    'No importer registered for op: ',
    'must have at least one output',
  ],
  rules: RULES,
})
