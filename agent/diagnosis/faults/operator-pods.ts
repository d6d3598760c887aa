// What the pods of NVIDIA's GPU Operator say on a node whose driver they cannot use, build or wait for.
import { rowFamily, step, type Row } from './parts/rows.ts'
import { around as near } from './parts/window.ts'

/** The driver's module for displays, which the validator loads before it links device files. */
const MODESET = /failed to load module nvidia-modeset/
const around = (text: readonly string[], at: number): string => near(text, at, 4, 0)

const ROWS: readonly Row[] = [
  {
    kind: 'driver_not_loaded',
    pattern: /failed to create NVIDIA device nodes|Failed to create symlinks under \/dev\/char/,
    title: "The GPU Operator's check of the driver failed",
    verdict: ({ text, at }) =>
      MODESET.test(around(text, at))
        ? 'The validator of the GPU Operator could not load nvidia-modeset on this node, which it does before it links the device files. That module is for displays: programs that compute do not need it.'
        : 'The validator of the GPU Operator could not make links to the device files: the driver is not loaded, or its nodes in /dev are missing.',
    remedies: ({ text, at }) => {
      const off = step('If it does: switch the links off in the validator (validator.driver.env: DISABLE_DEV_CHAR_SYMLINK_CREATION=true).')
      const runs = step('See on the node whether the driver runs.', 'nvidia-smi; ls -l /dev/nvidia*')
      return MODESET.test(around(text, at))
        ? [
            runs,
            off,
            step(
              'Or make the module load: its package must be of the version of the driver.',
              'sudo modprobe nvidia-modeset; sudo dmesg | tail; dpkg -l | grep nvidia',
            ),
          ]
        : [runs, off]
    },
  },
  {
    kind: 'driver_not_loaded',
    pattern: /Could not resolve Linux kernel version/,
    title: 'The driver container finds no headers for the kernel',
    verdict: "The driver container of the GPU Operator found no packages for the node's kernel, so it could not build the driver.",
    remedies: [
      step('See whether its repository has headers for that kernel; else use a kernel that has, or precompiled drivers (driver.usePrecompiled).', 'uname -r'),
      step('Or install the driver on the node itself: driver.enabled=false in the chart.'),
    ],
  },
  {
    kind: 'driver_not_loaded',
    severity: 'warning',
    pattern: /waiting for nvidia container stack to be setup/,
    title: 'The pod waits for the container toolkit of its node',
    verdict: 'An init container of the GPU Operator waits until driver and toolkit of its node are ready. What it waits for says more.',
    remedies: [
      step(
        'See which pod of that node is not ready: first the driver, then nvidia-container-toolkit, then the validator.',
        'kubectl get pods -A -o wide | grep -E "nvidia-(driver|container-toolkit|operator-validator)"',
      ),
    ],
  },
]

export const operatorPods = rowFamily(
  'operator-pods',
  [
    'failed to create NVIDIA device nodes',
    'Failed to create symlinks under /dev/char',
    'Could not resolve Linux kernel version',
    'waiting for nvidia container stack',
  ],
  ROWS,
)
