// What is not installed on a host, as apt, dnf, systemd, Docker and the driver's packages say it. All texts are written for this test.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'
import { kindRows } from './advice-rows.ts'

kindRows('not installed', [
  [
    'apt without the toolkit',
    'E: Unable to locate package nvidia-container-toolkit',
    'missing_dependency',
    /libnvidia-container\/gpgkey[^]*apt-get install -y nvidia-container-toolkit/,
  ],
  ['its old name', "E: Package 'nvidia-docker2' has no installation candidate", 'missing_dependency', /nvidia-docker2 is its old name/],
  [
    'dnf without it',
    'Error: Unable to find a match: nvidia-container-toolkit',
    'missing_dependency',
    /yum\.repos\.d[^]*dnf install -y nvidia-container-toolkit/,
  ],
  ['a driver of another branch', 'E: Unable to locate package nvidia-driver-595', 'missing_dependency', /no package nvidia-driver-595[^]*apt-cache search/],
  ["NVIDIA's repository of CUDA", 'E: Unable to locate package cuda-toolkit-12-8', 'missing_dependency', /cuda-keyring/],
  ['no service of Docker', 'Failed to restart docker.service: Unit docker.service not found.', 'missing_dependency', /docker context ls/],
  [
    'Docker that does not start',
    'Job for docker.service failed because the control process exited with error code.\nSee "systemctl status docker.service" and "journalctl -xeu docker.service" for details.',
    'config_error',
    /dockerd --validate/,
  ],
  ['no Compose', "docker: 'compose' is not a docker command.", 'missing_dependency', /docker-compose-plugin/],
  [
    'an image that is not there',
    'ERROR: failed to solve: nvcr.io/nvidia/pytorch:25.19-py3: not found',
    'file_missing',
    /no image nvcr\.io\/nvidia\/pytorch:25\.19-py3[^]*list-tags docker:\/\/nvcr\.io\/nvidia\/pytorch$/,
  ],
  [
    'a folder that is not there',
    'docker: Error response from daemon: invalid mount config for type "bind": bind source path does not exist: /srv/models.',
    'file_missing',
    /ls -ld \/srv\/models$/,
  ],
  ['no name of an image', 'docker: invalid reference format.', 'config_error', /quotes/],
  [
    'capital letters',
    'docker: invalid reference format: repository name (library/Trainer) must be lowercase.',
    'config_error',
    /library\/Trainer[^]*small letters/,
  ],
  ['a script with line ends of Windows', 'exec /entrypoint.sh: no such file or directory', 'file_missing', /sed -i/],
  [
    'an entry point without a name',
    'standard_init_linux.go:228: exec user process caused: no such file or directory',
    'file_missing',
    /ls -l <PROGRAM>; head -n 1 <PROGRAM>/,
  ],
  [
    "the driver's package",
    'dpkg: error processing package nvidia-dkms-570 (--configure):',
    'driver_not_loaded',
    /linux-headers-\$\(uname -r\); sudo dpkg --configure -a/,
  ],
  [
    'a card that the driver gave up',
    '[   12.4] nvidia 0000:41:00.0: probe with driver nvidia failed with error -1',
    'driver_not_loaded',
    /0000:41:00\.0[^]*dmesg/,
  ],
  ['the same of older kernels', '[   12.4] nvidia: probe of 0000:41:00.0 failed with error -1', 'driver_not_loaded', /0000:41:00\.0/],
  [
    "NVIDIA's installer under Secure Boot",
    'ERROR: The kernel module failed to load. Secure boot is enabled on this system, so this is likely because it was not signed by a key that is trusted by the kernel.',
    'driver_not_loaded',
    /mokutil --import/,
  ],
  [
    "Ubuntu's hint",
    "Command 'nvidia-smi' not found, but can be installed with:\nsudo apt install nvidia-utils-550",
    'gpu_not_visible',
    /nvidia-smi is not in PATH/,
  ],
  [
    'the API of Docker 28',
    'permission denied while trying to connect to the docker API at unix:///var/run/docker.sock',
    'permission_denied',
    /usermod -aG docker/,
  ],
])

test.each([
  ["the driver's own lines say why", 'NVRM: The NVIDIA probe routine failed for 1 device(s).\nnvidia: probe of 0000:41:00.0 failed with error -1'],
  [
    'Docker says what is wrong with its file',
    'unable to configure the Docker daemon with file /etc/docker/daemon.json: invalid character\nJob for docker.service failed',
  ],
])('left to what says more: %s', (_, text) => {
  expect(answer(text).all).not.toMatch(/could not start the GPU|ended as it started/)
})
