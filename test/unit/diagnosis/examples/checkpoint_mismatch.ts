// Model files that cannot be read; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['checkpoint_mismatch']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'safetensors',
    text: 'safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer',
    kinds: one,
    facts: { pattern: 'unreadable' },
  },
  { name: 'a zip', text: 'RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory', kinds: one },
  { name: 'a pointer', text: "_pickle.UnpicklingError: invalid load key, 'v'.", kinds: one },
  { name: 'GGUF', text: "gguf_init_from_file: invalid magic characters 'vers'", kinds: one },
  { name: 'quiet: loaded', text: 'Loading checkpoint shards: 100%|##########| 4/4', kinds: [] },
  {
    name: 'a tensor is not there',
    text: '2026-01-05T10:00:00.1Z ERROR text_embeddings_backend: backends/src/lib.rs:388: Could not start backend: cannot find tensor pooler.dense.weight',
    kinds: ['checkpoint_mismatch'],
    facts: { pattern: 'keys' },
  },
  {
    name: 'more than weights',
    text: `_pickle.UnpicklingError: Weights only load failed. Unsupported global: GLOBAL lib.config.Run was not an allowed global by default.`,
    kinds: one,
  },
]
