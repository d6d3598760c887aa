// One message in several situations, continued: who may change the driver there, what a container has, what a node's scheduler must know.
import { describe, expect, test } from 'vitest'
import { answer } from './answer.ts'

type Row = readonly [what: string, text: string, says: RegExp, not?: RegExp]
const rows = (name: string, all: readonly Row[]): void => {
  describe(name, () => {
    test.each(all.map(([what, text, says, not]) => ({ what, text, says, not })))('$what', ({ text, says, not }) => {
      const { all: said } = answer(text)
      expect(said).toMatch(says)
      if (not !== undefined) expect(said).not.toMatch(not)
    })
  })
}

const BOX = 'root@3f2b1c9d8e7a:/app# python run.py\n'
const WSL = 'ana@DESKTOP-8SK2LQ1:~$ python run.py\n'
const raised = (error: string): string => `Traceback (most recent call last):\n  File "/home/ana/run.py", line 3, in <module>\n${error}`
const OLD = 'RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver'
const MISMATCH = 'Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.183'
const NO_COMPILER = raised('RuntimeError: Failed to find C compiler. Please specify via CC environment variable.')
const ECC = 'RuntimeError: CUDA error: uncorrectable ECC error encountered'

rows('the driver', [
  ['too old on a host', OLD, /of the host, then reboot: the present one runs CUDA up to 11\.4/],
  ['too old under WSL', `${WSL}${OLD}`, /in Windows \(WSL takes it from there/, /then reboot/],
  ['too old under Windows', `C:\\Users\\ana\\run>python run.py\n${OLD}`, /then restart Windows/, /of the host/],
  ['too old in a job: its user cannot change it', `srun python run.py\n${OLD}`, /Ask the administrators/, /then reboot/],
  [
    'a mismatch under WSL is no missing reboot',
    `${WSL}${MISMATCH}`,
    /a Linux driver was installed beside[^]*Install no Linux NVIDIA driver/,
    /sudo reboot|modinfo/,
  ],
  ['a mismatch in a container that outlived an update', `${BOX}${MISMATCH}`, /docker restart 3f2b1c9d8e7a/],
  ['no nvidia-smi on a Jetson', 'ana@jetson:~$ nvidia-smi\nbash: nvidia-smi: command not found', /tegrastats/, /lsmod|container/],
  [
    'no nvidia-smi in Windows',
    "'nvidia-smi' is not recognized as an internal or external command,\noperable program or batch file.\nC:\\Users\\ana>",
    /nvidia\.com\/drivers/,
    /Python package/,
  ],
])

rows('packages of the system', [
  ['on a host', NO_COMPILER, /sudo apt-get install -y gcc/],
  ['in a container root has no sudo and no lists', `${BOX}${NO_COMPILER}`, /apt-get update && apt-get install -y gcc/, /sudo/],
  [
    'OpenCV asks for windows',
    `${BOX}import cv2\n${raised('ImportError: libGL.so.1: cannot open shared object file: No such file or directory')}`,
    /opencv-python-headless[^]*apt-get update && apt-get install -y libgl1/,
    /LD_LIBRARY_PATH/,
  ],
])

rows('work on a node', [
  ['a pod: no new ones', `[pod/ft-0/trainer] ${ECC}`, /kubectl cordon <NODE>/],
  ['a job: drain', `srun python run.py\n${ECC}`, /scontrol update nodename=<NODE> state=drain/],
  ['a host of its own', ECC, /--gpu-reset/, /cordon|drain/],
])

rows('what only follows', [
  ["DeepSpeed's optimizer for the CPU", raised("AttributeError: 'DeepSpeedCPUAdam' object has no attribute 'ds_opt_adam'"), /ds_report/, /dir\)/],
  [
    'Numba and the driver',
    'numba.cuda.cudadrv.error.CudaSupportError: Error at driver init: \nCUDA driver library cannot be found.',
    /driver's library libcuda\.so/,
    /liblibrary|Install library/,
  ],
])
