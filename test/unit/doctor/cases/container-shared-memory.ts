// Cases of the check container-shared-memory.
import { engineFacts, type CheckCase } from '../scene.ts'
import { PID, processFiles, SITE, torchVersion } from '../../../fakes/doctor/container-host.ts'

const engine = engineFacts()
// A scene's /dev/shm is a folder on this machine's disk: only what the engine tells can be small here. The small one itself is in the tests with real containers.
const torch = { ...processFiles(), [`${SITE}/torch/version.py`]: torchVersion('2.6.0', '12.4') }

export const cases: readonly CheckCase[] = [
  { about: 'enough', scene: { engine, containers: [{}] }, status: 'pass', says: /8\.0 GiB/ },
  { about: "the host's", scene: { engine, containers: [{ ipcMode: 'host', shmSizeBytes: 64 * 2 ** 20 }] }, status: 'pass' },
  {
    about: "Docker's default under PyTorch",
    scene: { engine, files: torch, containers: [{ pid: PID, shmSizeBytes: 64 * 2 ** 20 }] },
    status: 'warn',
    says: /64 MiB.*--shm-size=8g/,
  },
  {
    about: 'the default, and no PyTorch',
    scene: { engine, files: processFiles(), containers: [{ pid: PID, shmSizeBytes: 64 * 2 ** 20 }] },
    status: 'skipped',
    says: /no PyTorch/,
  },
  { about: 'no engine', scene: {}, status: 'skipped' },
]
