// Boots a virtual machine with cgroup v2 for hosts that have v1: a Debian kernel, and an initramfs of busybox, Node, Docker and the bundled guest script. No KVM.
// Needs apt packages qemu-system-x86 seabios docker.io busybox-static, and Debian's archive for the kernel (27 MB, kept in node_modules/.cache).
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, globSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { rolldown } from 'rolldown'

const root = join(import.meta.dirname, '../..')
const DEADLINE_MS = 280_000
const DONE = /GUEST_RC=(\d+)/

const which = (name: string): string => {
  const found = (process.env['PATH'] ?? '')
    .split(':')
    .map((directory) => join(directory, name))
    .find(existsSync)
  if (found === undefined) throw new Error(`expected ${name} in PATH: apt-get install qemu-system-x86 seabios docker.io busybox-static`)
  return found
}

/** Debian's cloud kernel has cgroup v2 and all drivers of QEMU built in. */
function kernel(): string {
  const cache = join(root, 'node_modules/.cache/vm-kernel')
  const find = (): string | undefined => globSync(join(cache, 'boot/vmlinuz*'))[0]
  if (find() === undefined) {
    mkdirSync(cache, { recursive: true })
    const depends = execFileSync('apt-cache', ['depends', 'linux-image-cloud-amd64'], { encoding: 'utf8' })
    const name = /Depends: (linux-image-\S+)/.exec(depends)?.[1]
    if (name === undefined) throw new Error('expected apt-cache to name the kernel of linux-image-cloud-amd64; run apt-get update')
    // The user `_apt` of apt's sandbox may not write here; the download goes on as root, with a notice that says nothing more.
    execFileSync('apt-get', ['download', name], { cwd: cache, stdio: 'ignore' })
    execFileSync('dpkg', ['-x', globSync(join(cache, '*.deb'))[0] ?? '', cache])
  }
  const found = find()
  if (found === undefined) throw new Error(`expected a kernel under ${cache}/boot`)
  return found
}

/** Copies a program with the libraries that it is linked to. */
function put(target: string, program: string): void {
  copyFileSync(realpathSync(program), join(target, 'usr/bin', basename(program)))
  let libraries = ''
  try {
    libraries = execFileSync('ldd', [program], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return // linked statically
  }
  for (const [library] of libraries.matchAll(/\/[^\s)]+/g)) {
    mkdirSync(join(target, dirname(library)), { recursive: true })
    copyFileSync(realpathSync(library), join(target, library))
  }
}

const INIT = `#!/bin/sh
export PATH=/bin:/usr/bin HOME=/root
mount -t proc proc /proc; mount -t sysfs s /sys; mount -t devtmpfs d /dev; mkdir -p /dev/pts /dev/shm; mount -t devpts p /dev/pts
for d in run tmp var/lib; do mount -t tmpfs t /$d; done
mount -t cgroup2 c /sys/fs/cgroup; ip link set lo up
node /guest.mjs; echo "GUEST_RC=$?"
poweroff -f
`

async function buildInitramfs(work: string): Promise<string> {
  const target = join(work, 'root')
  for (const directory of ['bin', 'usr/bin', 'proc', 'sys', 'dev', 'run', 'tmp', 'etc', 'root', 'var/lib'])
    mkdirSync(join(target, directory), { recursive: true })
  const busybox = which('busybox')
  copyFileSync(realpathSync(busybox), join(target, 'bin/busybox'))
  for (const applet of execFileSync(busybox, ['--list'], { encoding: 'utf8' }).trim().split('\n')) {
    if (applet !== 'busybox') symlinkSync('busybox', join(target, 'bin', applet))
  }
  put(target, process.execPath)
  for (const program of ['dockerd', 'containerd', 'containerd-shim-runc-v2', 'runc']) put(target, which(program))
  writeFileSync(join(target, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n')
  writeFileSync(join(target, 'etc/group'), 'root:x:0:\n')
  writeFileSync(join(target, 'init'), INIT)
  chmodSync(join(target, 'init'), 0o755)
  const bundle = await rolldown({ input: join(root, 'test/vm/guest.ts'), platform: 'node', logLevel: 'silent' })
  await bundle.write({ file: join(target, 'guest.mjs'), format: 'esm' })
  const image = join(work, 'initrd.gz')
  execFileSync('sh', ['-c', `find . | ${busybox} cpio -o -H newc 2>/dev/null | gzip -1 > ${image}`], { cwd: target })
  return image
}

const work = mkdtempSync(join(tmpdir(), 'warpwatch-vm-'))
try {
  const machine = ['-accel', 'tcg,thread=multi', '-cpu', 'max', '-m', '4096', '-smp', '2', '-nographic', '-no-reboot', '-net', 'none']
  const boot = ['-kernel', kernel(), '-initrd', await buildInitramfs(work), '-append', 'console=ttyS0 quiet psi=1 rdinit=/init panic=-1']
  const qemu = spawn(which('qemu-system-x86_64'), [...machine, ...boot], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  qemu.stdout.setEncoding('utf8')
  qemu.stdout.on('data', (text: string) => {
    output += text
    process.stdout.write(text.replaceAll('\r', ''))
  })
  const deadline = setTimeout(() => qemu.kill('SIGKILL'), DEADLINE_MS)
  await new Promise((resolve) => qemu.once('close', resolve))
  clearTimeout(deadline)
  const code = DONE.exec(output)?.[1]
  if (code === undefined) console.error(`expected the guest to end within ${DEADLINE_MS / 1000} s, it did not`)
  process.exitCode = code === '0' ? 0 : 1
} finally {
  rmSync(work, { recursive: true, force: true })
}
