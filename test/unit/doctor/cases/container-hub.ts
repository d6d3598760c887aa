// Cases of the check container-hub.
import { engineFacts, type CheckCase } from '../scene.ts'
import { PID, processFiles, ROOT, SITE } from '../../../fakes/doctor/container-host.ts'

const engine = engineFacts()
const containers = [{ pid: PID }]
const set = (env: Readonly<Record<string, string>>) => processFiles({ env })
const models = { [`${ROOT}/models/hub/models--org--name/refs/main`]: 'x' }

export const cases: readonly CheckCase[] = [
  { about: 'nothing is set', scene: { engine, containers: [{}] }, status: 'pass' },
  {
    about: 'offline with models',
    scene: { engine, containers, files: { ...set({ HF_HUB_OFFLINE: '1', HF_HOME: '/models' }), ...models } },
    status: 'pass',
    says: /models are in its cache/,
  },
  {
    about: 'offline without',
    scene: { engine, containers, files: set({ HF_HUB_OFFLINE: '1', HF_HOME: '/models' }) },
    status: 'warn',
    says: /\/models\/hub has no models.*hf download/,
  },
  { about: 'a flag that does not count', scene: { engine, containers, files: set({ HF_HUB_OFFLINE: 'offline' }) }, status: 'warn', says: /it counts as 0/ },
  {
    about: 'a fast download without its package',
    scene: { engine, containers, files: { ...set({ HF_HUB_ENABLE_HF_TRANSFER: '1' }), [`${SITE}/huggingface_hub/__init__.py`]: '' } },
    status: 'fail',
    says: /pip install hf_transfer/,
  },
  {
    about: 'a hub that does not look for it any more',
    scene: {
      engine,
      containers,
      files: {
        ...set({ HF_HUB_ENABLE_HF_TRANSFER: '1' }),
        [`${SITE}/huggingface_hub/__init__.py`]: '',
        [`${SITE}/huggingface_hub-1.7.0.dist-info/METADATA`]: '',
      },
    },
    status: 'pass',
  },
  { about: 'an old name', scene: { engine, containers, files: set({ TRANSFORMERS_CACHE: '/models' }) }, status: 'warn', says: /HF_HUB_CACHE/ },
  { about: 'no engine', scene: {}, status: 'skipped' },
]
