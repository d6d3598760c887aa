// pyxis and enroot, the containers of Slurm: why one was not started.
import { rowFamily, step, type Row } from './parts/rows.ts'
import { around } from './parts/window.ts'

const ROWS: readonly Row[] = [
  {
    kind: 'config_error',
    pattern: /pyxis: (?:container start failed|failed to import docker image|couldn't start container)/,
    title: 'pyxis could not start the container',
    verdict: ({ text, at }) => {
      const said = /pyxis: {3,8}(?!\[INFO\])(?:\[ERROR\] )?([^\n]{6,160})/.exec(around(text, at, 4, 8))?.[1]?.trim()
      return `enroot could not ${/import/.test(text[at] ?? '') ? 'import the image' : 'start the container'}${said === undefined ? '' : `: "${said}"`}.`
    },
    remedies: ({ text, at, situation }) => {
      const near = around(text, at, 6, 10)
      const file =
        /--container-image[= ](?![./])([\w.-]{2,100}\.sqsh)/.exec(situation().text)?.[1] ?? /importing docker image: ([\w.-]{2,100}\.sqsh)/.exec(near)?.[1]
      if (file !== undefined)
        return [
          step('A squashfs file must be named with its path: without ./ or / it is looked for in a registry.', `srun --container-image=./${file} <COMMAND>`),
        ]
      if (/Command not found: nvidia-container-cli|nvidia-container-cli: command not found/.test(near))
        return [
          step(
            'Install libnvidia-container-tools on the compute nodes: the hook of enroot for GPUs needs it.',
            'sudo apt-get install -y libnvidia-container-tools',
          ),
          step('Where a job needs no GPU, as on nodes without one: keep the hook from looking for it.', 'export NVIDIA_VISIBLE_DEVICES=void'),
        ]
      if (/failed to execute: (\S{2,80}): No such file/.test(near))
        return [
          step('The image has no such program, or is for another CPU: take an image with a shell, of the CPU of the nodes.', 'uname -m'),
          step('If its entrypoint is unusual, leave it out.', 'srun --no-container-entrypoint --container-image=<IMAGE> <COMMAND>'),
        ]
      if (/[Pp]ermission denied|couldn't mkdir/.test(near))
        return [
          step(
            'Let the paths of enroot and pyxis be where the user may write, on each node: a prolog makes them, or a path below /run/user or /tmp.',
            'grep -vE "^ *#" /etc/enroot/enroot.conf; scontrol show config | grep -i prolog',
          ),
        ]
      return [
        step('Import the image by hand on a node: the error is then in full.', 'enroot import docker://<IMAGE>'),
        step("Read slurmd's log of that node.", 'sudo tail -n 50 /var/log/slurm/slurmd.log'),
      ]
    },
    unless: ({ text, at }) => /error code: 4\d\d|40[134] |no space left|[Uu]nauthorized/.test(around(text, at, 6, 10)),
  },
]

export const pyxis = rowFamily('pyxis', ['pyxis: container start failed', 'pyxis: failed to import docker image', "pyxis: couldn't start container"], ROWS)
