// Cases of the check nvml-answers.
import { NvmlError } from '../../../../agent/doctor/parts/nvml-facts.ts'
import { healthy, IN_CONTAINER, MODULE, NO_GPU, WSL } from '../hosts.ts'
import { nvmlFacts, type CheckCase } from '../scene.ts'

const module = { '/proc/driver/nvidia/version': MODULE('550.90.07') }

export const cases: readonly CheckCase[] = [
  { about: 'it answers', scene: { files: healthy(), nvml: nvmlFacts() }, status: 'pass', says: /driver 580\.65\.06, 1 GPU"/ },
  {
    about: 'a card that does not open',
    scene: { nvml: nvmlFacts({ lost: [{ index: 3, code: 15, detail: 'nvmlDeviceGetHandleByIndex_v2: GPU_IS_LOST' }] }) },
    status: 'fail',
    says: /"GPU 3".*GPU_IS_LOST.*--gpu-reset -i 3/,
  },
  {
    about: 'a driver that hangs',
    scene: { nvml: new NvmlError('hang', 'nvmlInit_v2 did not return within 8 s') },
    status: 'fail',
    says: /driver not responding.*nvmlInit_v2/,
  },
  { about: 'two versions', scene: { nvml: new NvmlError('failed', 'nvmlInit_v2: LIB_RM_VERSION_MISMATCH', 18) }, status: 'fail', says: /reboot/ },
  { about: 'Unknown Error', scene: { nvml: new NvmlError('failed', 'nvmlInit_v2: UNKNOWN', 999) }, status: 'fail', says: /UNKNOWN/ },
  { about: 'no permission', scene: { nvml: new NvmlError('failed', 'nvmlInit_v2: NO_PERMISSION', 4) }, status: 'warn', says: /root/ },
  {
    about: 'a crash under WSL2',
    scene: { files: WSL, nvml: new NvmlError('crash', 'the sampler process died of SIGSEGV') },
    status: 'fail',
    says: /wsl --shutdown/,
  },
  { about: 'the library is missing', scene: { files: module }, status: 'fail', says: /no libnvidia-ml\.so\.1 was found.*apt-get install/ },
  { about: 'a driver that lists nothing', scene: { files: module, nvml: nvmlFacts({ gpus: [] }) }, status: 'fail', says: /lists none/ },
  { about: 'a container that was given nothing', scene: { files: { ...module, ...IN_CONTAINER } }, status: 'skipped', says: /--gpus all/ },
  {
    about: 'libraries left behind on a host without a driver',
    scene: { files: NO_GPU, nvml: new NvmlError('failed', 'nvmlInit_v2: DRIVER_NOT_LOADED', 9) },
    status: 'skipped',
  },
  { about: 'a host without any of it', scene: { files: NO_GPU }, status: 'skipped' },
]
