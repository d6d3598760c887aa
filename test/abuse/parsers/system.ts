// Readers of /proc, /sys and cgroup files, of paths that name containers, pods and jobs, and of device rules.
import { containerOfPath, parseCgroup, parseMountinfo } from '../../../agent/attribution/cgroup-path.ts'
import { parseContainerLink, parsePodDirectory } from '../../../agent/attribution/kubernetes.ts'
import { parseStat, parseStatus } from '../../../agent/attribution/proc-files.ts'
import { parseCpuMax, parseKeyed, parseLimit, parseNumber, parsePressure, parseQuota } from '../../../agent/sources/containers/cgroup-files.ts'
import { containerDirectoryOf } from '../../../agent/sources/containers/cgroup-hierarchy.ts'
import { minorOfPath } from '../../../agent/sources/containers/gpu-request.ts'
import { parseRules } from '../../../agent/sources/device-access/probe.ts'
import { parseStat as parseCpuTimes } from '../../../agent/sources/host/cpu.ts'
import { parseDiskstats } from '../../../agent/sources/host/disk-io.ts'
import { osName } from '../../../agent/sources/host/info.ts'
import { parseLoad } from '../../../agent/sources/host/load.ts'
import { meminfoValue } from '../../../agent/sources/host/memory.ts'
import { parseMounts } from '../../../agent/sources/host/mounts.ts'
import { parseNetDev } from '../../../agent/sources/host/network.ts'
import { parsePressure as parseHostPressure } from '../../../agent/sources/host/pressure.ts'
import { textParser } from './parser.ts'

const ID = 'ef56'.repeat(16)
const POD = '11111111-2222-3333-4444-555555555555'

export const cgroupPaths = textParser(
  'cgroup-paths',
  '/proc/PID/cgroup and mountinfo: containers, pods, Slurm jobs, units, machines',
  [
    `12:memory:/docker/${ID}\n1:name=systemd:/docker/${ID}\n0::/system.slice/docker.service\n`,
    `0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${POD.replaceAll('-', '_')}.slice/cri-containerd-${ID}.scope\n`,
    `0::/system.slice/slurmstepd.scope/job_1234/step_batch/user/task_0\n`,
    '0::/user.slice/user-1000.slice/user@1000.service/app.slice/vllm.service\n',
    '0::/user.slice/user-1000.slice/session-3.scope\n0::/lxc.payload.box/x\n0::/machine.slice/machine-qemu\\x2d1\\x2dvm\\x2dname.scope\n',
    `31 23 8:1 /var/lib/docker/containers/${ID}/hostname /etc/hostname rw - ext4 /dev/sda1 rw\n31 23 8:1 /var/lib/kubelet/pods/${POD}/etc-hosts /etc/hosts rw - ext4 x rw\n`,
  ],
  (text) => {
    parseCgroup(text)
    parseMountinfo(text)
    containerOfPath(text)
    containerDirectoryOf(text, ID)
  },
  { inputs: 500_000 },
)
export const kubernetesNames = textParser(
  'kubernetes-names',
  'names below /var/log/containers and /var/log/pods, device paths',
  [`trainer-0_ml_main-${ID}.log`, `ml_trainer-0_${POD}`, '/dev/nvidia12'],
  (text) => {
    parseContainerLink(text)
    parsePodDirectory(text)
    minorOfPath(text)
  },
  { mostBytes: 4_096 },
)
export const processFiles = textParser(
  'process-files',
  '/proc/PID/stat and status',
  [
    `4242 (my (odd) name) S 1 4242 4242 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 987654 1 2 3\n`,
    'Name:\tpython\nUid:\t1000\t1000\t1000\t1000\nNSpid:\t4242\t17\n',
  ],
  (text) => {
    parseStat(text)
    parseStatus(text)
  },
)
export const cgroupFiles = textParser(
  'cgroup-files',
  'cgroup v1 and v2 files, device rules',
  [
    '123456\n',
    'max\n',
    '100000 100000\n',
    'max 100000\n',
    '-1\n',
    'anon 12\nfile 34\ninactive_file 5\noom_kill 7\n',
    'some avg10=0.00 avg60=1.00 avg300=2.00 total=345\nfull avg10=0 avg60=0 avg300=0 total=9\n',
    'c 195:* rwm\na *:* rwm\nc 195:0 rw\n',
  ],
  (text) => {
    parseNumber(text)
    parseLimit(text)
    parseCpuMax(text)
    parseQuota(text)
    parseKeyed(text, 'inactive_file')
    parsePressure(text)
    const rules = parseRules(text)
    if ('allows' in rules) rules.allows(195, 0)
  },
)
export const hostFiles = textParser(
  'host-files',
  'the files of /proc that describe the host',
  [
    'cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\nbtime 1763600000\n',
    '   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n 259       0 nvme0n1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n',
    'NAME="Debian GNU/Linux"\nPRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nID=debian\n',
    '0.10 0.20 0.30 1/234 5678\n',
    'MemTotal:       131072000 kB\nMemAvailable:   65536000 kB\n',
    'Inter-|   Receive\n face |bytes\n  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n',
    '31 23 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n40 31 0:5 / /dev/shm rw - tmpfs shm rw,size=64k\\040x\n',
    'some avg10=0.00 avg60=1.00 avg300=2.00 total=345\n',
  ],
  (text) => {
    parseCpuTimes(text)
    parseDiskstats(text)
    osName(text)
    parseLoad(text)
    meminfoValue(text, 'MemTotal')
    parseNetDev(text)
    parseMounts(text)
    parseHostPressure(text)
  },
  { inputs: 500_000 },
)
