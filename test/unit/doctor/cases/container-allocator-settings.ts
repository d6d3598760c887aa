// Cases of the check container-allocator-settings.
import { engineFacts, type CheckCase } from '../scene.ts'
import { PID, processFiles, SITE, torchVersion } from '../../../fakes/doctor/container-host.ts'

const engine = engineFacts()
const set = (text: string, name = 'PYTORCH_CUDA_ALLOC_CONF') => [{ env: new Map([[name, text]]) }]
const torch = { ...processFiles({ env: { PYTORCH_ALLOC_CONF: 'expandable_segments:True' } }), [`${SITE}/torch/version.py`]: torchVersion('2.6.0', '12.4') }

export const cases: readonly CheckCase[] = [
  { about: 'not set', scene: { engine, containers: [{}] }, status: 'pass', says: /defaults/ },
  {
    about: 'two options',
    scene: { engine, containers: set('expandable_segments:True, garbage_collection_threshold:0.8') },
    status: 'pass',
    says: /expandable_segments:True/,
  },
  { about: 'a wrong letter', scene: { engine, containers: set('expandable_segment:True') }, status: 'fail', says: /expandable_segments.* is;/ },
  { about: 'a small t', scene: { engine, containers: set('expandable_segments:true') }, status: 'fail', says: /with a capital/ },
  {
    about: 'ignored by the other backend',
    scene: { engine, containers: set('backend:cudaMallocAsync,max_split_size_mb:128') },
    status: 'warn',
    says: /ignores max_split_size_mb/,
  },
  {
    about: 'the new name, and an old PyTorch',
    scene: { engine, files: torch, containers: [{ pid: PID }] },
    status: 'warn',
    says: /not read by PyTorch 2\.6\.0/,
  },
  {
    about: 'both names',
    scene: {
      engine,
      containers: [
        {
          env: new Map([
            ['PYTORCH_CUDA_ALLOC_CONF', 'max_split_size_mb:128'],
            ['PYTORCH_ALLOC_CONF', 'expandable_segments:True'],
          ]),
        },
      ],
    },
    status: 'warn',
    says: /different things/,
  },
  { about: 'no engine', scene: {}, status: 'skipped' },
]
