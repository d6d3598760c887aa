// Advice for nodes whose GPUs do not come up: Slurm's gres.conf, CDI, the GPU Operator, the driver's start of a card.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const explained = (text: string) => explainText(logScanner(), text)
const said = (text: string): string =>
  explained(text)
    .map(({ kind, title, verdict, remedies }) => [kind, title, verdict, ...remedies.map((one) => `${one.text} ${one.command ?? ''}`)].join('\n'))
    .join('\n')
const NO_START = 'NVRM: RmInitAdapter: Cannot initialize GSP firmware RM\nNVRM: GPU 0000:41:00.0: RmInitAdapter failed! (0x62:0x51:1900)\n'

test.each([
  [
    'a device file that is not there',
    "slurmd: error: Waiting for gres.conf file /dev/nvidia3\nslurmd: fatal: can't stat gres.conf file /dev/nvidia3: No such file or directory\n",
    /^gpu_not_visible\nslurmd does not find \/dev\/nvidia3/,
  ],
  ['a record that stands twice', 'slurmd[811]: fatal: gres.conf duplicate records for gpu\n', /^config_error\n[^]*AutoDetect/],
  [
    'records with and without a file',
    'slurmd: fatal: gres.conf for gpu, some records have "File" specification while others do not\n',
    /^config_error\n[^]*some have File=/,
  ],
  [
    'cores that the node does not have',
    '[2026-01-02T03:04:05.678] error: _node_config_validate: gres/gpu: invalid GRES core specification (32-47) on node gpu07\n',
    /^config_error\n[^]*nodename=gpu07 state=resume/,
  ],
  [
    'cores over the border of a socket',
    "error: _check_core_range: gres/gpu GRES core specification 0-20 for node gpu07 doesn't match socket boundaries. (Socket 0 is cores 0-15)\n",
    /reach over the border of a socket/,
  ],
  [
    'AutoDetect finds something else',
    'error: _foreach: gpu: 4 reported If using AutoDetect the amount of GPUs configured in slurm.conf does not match what was detected. If this is intentional, please turn off AutoDetect and manually specify them in gres.conf.\n',
    /^config_error\nslurm\.conf and the node differ in GPUs/,
  ],
  [
    'a drained node with its name',
    'NodeName=gpu07 Arch=x86_64\n   Gres=gpu:h100:8\n   Reason=gres/gpu count reported lower than configured (7 < 8) [slurm@2026-01-02T03:04:05]\n',
    /^gpu_lost\n[^]*nodename=gpu07 state=resume/,
  ],
  [
    '--gpus without a CDI description',
    'docker: Error response from daemon: failed to discover GPU vendor from CDI: no known GPU vendor found\n',
    /^gpu_not_visible\n[^]*nvidia-container-toolkit && sudo nvidia-ctk cdi generate/,
  ],
  [
    'a device that the description lacks',
    'Error: failed to create containerd task: OCI runtime create failed: error modifying OCI spec: failed to inject CDI devices: unresolvable CDI devices example.nvidia.com/gpu=GPU-0a1b2c3d\n',
    /asks for example\.nvidia\.com\/gpu=GPU-0a1b2c3d/,
  ],
  [
    'a description that cannot be written',
    'time="2026-01-02T03:04:05Z" level=error msg="failed to generate CDI spec: failed to create device CDI specs: invalid device, empty device edits"\n',
    /^gpu_not_visible\nThe CDI description of the GPUs was not written/,
  ],
  [
    'a module for displays',
    "Error: error validating driver installation: error creating symlink creator: failed to load NVIDIA kernel modules: failed to load module nvidia-modeset: exit status 1; output=modprobe: ERROR: could not insert 'nvidia_modeset': No such device\n\nFailed to create symlinks under /dev/char that point to all possible NVIDIA character devices.\n",
    /^driver_not_loaded\n[^]*do not need it[^]*DISABLE_DEV_CHAR_SYMLINK_CREATION/,
  ],
  [
    'a Fabric Manager that was not started',
    'Starting NVIDIA fabric manager daemon for NVLink5+...\nUnknown option: /usr/share/nvidia/nvswitch/fabricmanager.cfg\n',
    /^fabric_manager\n/,
  ],
  [
    'no host memory for the firmware',
    `NVRM: nvCheckOkFailedNoLog: Check failed: Out of memory [NV_ERR_NO_MEMORY] (0x00000051) returned from _memdescAllocInternal(pMemDesc) @ mem_desc.c:1300\nNVRM: kgspInitRm_IMPL: Error preparing GSP-RM image\n${NO_START}`,
    /^gpu_lost\nThe driver got no host memory to start the GPU[^]*buddyinfo/,
  ],
  [
    'a VBIOS that cannot be read',
    `NVRM: s_vbiosPatchInterfaceData: too few interface entires found for FWSEC cmd 0x15\n${NO_START}`,
    /^gpu_lost\nThe driver cannot use the card's VBIOS[^]*lspci -vvs 0000:41:00\.0/,
  ],
  [
    'a GSP that refuses to boot',
    `NVRM: kgspBootstrap_GH100: GSP-FMC reported an error while attempting to boot GSP: 0xb\n${NO_START}`,
    /^gpu_lost\n[^]*refused to boot/,
  ],
  [
    'a ring that fails its test',
    'amdgpu 0000:41:00.0: [drm:amdgpu_ib_ring_tests [amdgpu]] *ERROR* IB test failed on gfx_0.0.0 (-110).\n',
    /^gpu_reset\nThe GPU failed its driver's test[^]*gfx_0\.0\.0 did not answer the test: programs cannot/,
  ],
  [
    'headers that are not installed',
    "Error! Your kernel headers for kernel 6.99.1-7-generic cannot be found at /lib/modules/6.99.1-7-generic/build or /lib/modules/6.99.1-7-generic/source.\nPlease install the linux-headers-6.99.1-7-generic package or use the --kernelsourcedir option to tell DKMS where it's located\n",
    /^driver_not_loaded\n[^]*linux-headers-6\.99\.1-7-generic && sudo dkms autoinstall/,
  ],
  [
    'a driver that does not build',
    'Error! Bad return status for module build on kernel: 6.99.1-7-generic (x86_64)\nConsult /var/lib/dkms/nvidia/601.22.01/build/make.log for more information.\n',
    /^driver_not_loaded\n[^]*of driver 601\.22\.01 could not be built for kernel 6\.99\.1-7-generic/,
  ],
])('%s', (_, text, wanted) => {
  expect(said(text)).toMatch(wanted)
  expect(explained(text)).toHaveLength(1)
})
