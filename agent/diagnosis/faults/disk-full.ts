// A disk or a quota is full: checkpoints, downloads and images cannot be written.
import { group } from '../situation/versions.ts'
import { joinedFrom } from '../joining.ts'
import { around as linesAround, known, whole } from './parts/window.ts'
import { SEMAPHORE } from './shm-exhausted.ts'
import { ruleFamily, type Seen, type Matched } from './parts/rules.ts'
import type { Facts } from '../../model/facts.ts'
import { fullIn, rootFree, shownBy } from './parts/df.ts'
import { arrivedAll, hubFree, hubSizes } from './parts/hub-download.ts'
import { buildStep, checkpointFolder } from './parts/written.ts'
import { setVariables } from './remedies/environment.ts'
import { imageStore, pulledImage } from './remedies/image-store.ts'
import { inQuota } from './remedies/quota.ts'
import type { Piece } from './remedies/plan.ts'

/** Writing the layers of an image: what is full is the engine's own folder, wherever the path inside the image leads. */
const LAYER =
  /failed to register layer|ApplyLayer exit|Error processing tar file|CannotPullContainer|failed to extract layer|adding layer with blob|unpigz|docker pull|Extracting \[/
/** Where containerd, K3s and Podman unpack images. */
const STORE = /\/var\/lib\/(?:rancher\/\w{2,5}\/agent\/)?containerd\b|\/[\w./-]{0,80}\/containers\/storage\b/
const PODMAN = /\bpodman\b|\bbuildah\b|adding layer with blob|\/containers\/storage\b/
/** A step of a Dockerfile, as BuildKit prints it. */
const IMAGE_BUILD =
  /failed to solve|executor failed running \[|^#\d{1,3} (?:\d|\[)|\[\+\] Building \d|^\s{0,4}=> (?:CACHED |ERROR )?\[|' returned a non-zero code/m
const DESKTOP = /desktop-linux|Docker Desktop/
const DOWNLOAD = /huggingface|hf[-_]hub|hf-cache|models--|when downloading|download the file|expected file size|\bollama\b/i
const CHECKPOINT = /PytorchStreamWriter|torch\.save|save_checkpoint|checkpoint|serializ|save_pretrained/i
const PIP = /Could not install packages|\bpip\b/

/** The folder of what could not be written: the file itself may not be there. */
function existing(path: string | undefined): string | undefined {
  if (path === undefined || /<<|\/\.\.\./.test(path)) return undefined
  const folder = path.replace(/'/g, '').replace(/\/models--.*$/, '')
  return /\/[^/]*\.[^/]*$/.test(folder) && !/\/\.[^/.]*$/.test(folder) ? folder.replace(/\/[^/]*$/, '') || '/' : folder
}
/** A path as a shell word; `~` stays outside of the quotes. */
const word = (path: string): string => (/^[\w@%+=:,./~-]+$/.test(path) ? path : `'${path}'`)

function see(path: string | undefined, quota: boolean): Piece {
  const drive = /^([A-Za-z]):\\/.exec(path ?? '')?.[1]
  if (drive !== undefined) return { text: `Free space on drive ${drive}:, or let the program write to another drive; delete the file that it left incomplete.` }
  if (quota) return { text: 'See your quota and what fills it.', command: 'quota -s; du -xh --max-depth=1 "$HOME" | sort -h | tail' }
  return path === undefined
    ? { text: 'See which file system is full: space, and inodes.', command: 'df -h; df -i' }
    : { text: `See how full the file system of ${path} is: space, and inodes.`, command: `df -h ${word(path)}; df -i ${word(path)}` }
}

/** The setting of each library that limits how many checkpoints are kept. */
const KEEPERS: readonly (readonly [RegExp, string])[] = [
  [/\bmm(?:engine|det|seg|cv)\b/, 'MMEngine: max_keep_ckpts of its CheckpointHook'],
  [/lightning/i, 'Lightning: save_top_k of ModelCheckpoint'],
  [/ultralytics|\bYOLO/i, 'Ultralytics: save_period=-1'],
  [/\bnemo\b/i, 'NeMo: save_top_k'],
  [/[\\/]ray[\\/](?:tune|train)[\\/]|\bray_results\b/, 'Ray: num_to_keep of its CheckpointConfig'],
  [/\bluajit\b|\btorch7\b/, 'delete those of earlier epochs'],
]
const keeper = (text: string): string => KEEPERS.find(([program]) => program.test(text))?.[1] ?? 'Hugging Face Trainer: save_total_limit'

function remediesFor({ facts, situation, message }: Matched, quota = false): readonly Piece[] {
  const at = situation()
  const path = existing(facts.path)
  const look = (of = path): Piece => (quota ? false : shownBy(at.text, of)) || see(of, quota)
  const around = `${message}\n${at.text}`
  const desktop = DESKTOP.test(around) || at.system === 'mac' || at.system === 'windows'
  // "failed to register layer" is Docker's own word, also where the kubelet quotes it.
  const containerd = /containerd|kubelet|cri-o/.test(around) && !at.programs.has('docker') && !/failed to register layer/.test(message)
  if (LAYER.test(message) && PODMAN.test(message))
    return [
      {
        text: 'See what images and containers take, and how full the file system of the store is.',
        command: "podman system df; df -h $(podman info --format '{{.Store.GraphRoot}}')",
      },
      { text: 'Delete images that no container uses. They must be pulled or built again.', command: 'podman image prune --all', destroys: true },
      { text: 'Or move the store to a larger disk (graphroot in storage.conf); a layer is first unpacked in /var/tmp (TMPDIR moves that).' },
    ]
  const named = STORE.exec(message)?.[0]
  const store = named ?? '/var/lib/containerd'
  if (LAYER.test(message) && (containerd || named !== undefined))
    return [
      { text: 'See how full the file system is in which containerd unpacks images.', command: `df -h ${store}; df -i ${store}` },
      { text: 'Delete images that no container uses. They must be pulled again.', command: 'sudo crictl rmi --prune', destroys: true },
      {
        text: store.includes('/rancher/')
          ? 'Or move the data folder of K3s or RKE2 to a larger disk (--data-dir).'
          : "Or move containerd's root to a larger disk (root in /etc/containerd/config.toml).",
      },
    ]
  if (LAYER.test(message) || IMAGE_BUILD.test(around) || (LAYER.test(at.text) && at.programs.has('docker'))) return imageStore(at.text, desktop)
  if (/\bSemLock\(/.test(around))
    return [
      {
        text: "Python's semaphores are stored in /dev/shm, not on the disk: see how full it is, and what dead processes left there.",
        command: 'df -h /dev/shm; ls -la /dev/shm',
      },
      { text: 'Delete what belongs to no running process; give a container a larger /dev/shm (docker run --shm-size).' },
    ]
  const ray = /\/tmp\/ray\/session_[\w-]{1,60}/.exec(around)?.[0]
  if (ray !== undefined && /spill/.test(around))
    return [
      look('/tmp/ray'),
      { text: 'Ray spills objects there: start it with a folder on a larger disk.', command: 'ray start --head --temp-dir <FOLDER_WITH_SPACE>' },
    ]
  if (quota && PIP.test(around)) return [look(), ...inQuota(at)]
  if (PIP.test(message))
    return [
      look(),
      /runtime_env/.test(around) && {
        text: 'Ray installs the packages of a runtime environment in its temporary folder (/tmp/ray) on the node: put that on a larger disk.',
        command: 'ray start --head --temp-dir <FOLDER_WITH_SPACE>',
      },
      { text: "Empty pip's cache, and let pip unpack on another disk.", command: 'pip cache purge\nexport TMPDIR=<FOLDER_WITH_SPACE>' },
    ]
  if (/\bdatasets[\\/](?:arrow_writer|builder)\.py/.test(around))
    return [look(), { text: 'Move the cache of datasets to a larger disk.', command: setVariables(at, { HF_DATASETS_CACHE: '<FOLDER_WITH_SPACE>' }) }]
  if (/\.ollama\/models|\/ollama\/\.?models/.test(message))
    return [
      look(path?.replace(/\/blobs\/.*$/, '')),
      {
        text: 'Move the models of Ollama to a larger disk (set it for the service or container).',
        command: setVariables(at, { OLLAMA_MODELS: '<FOLDER_WITH_SPACE>' }),
      },
      { text: 'See which models there are; `ollama rm` deletes one, which must be pulled again.', command: 'ollama list' },
    ]
  if (DOWNLOAD.test(around) && !CHECKPOINT.test(message))
    return [
      look(),
      { text: 'Move the model cache to a larger disk.', command: setVariables(at, { HF_HOME: '<FOLDER_WITH_SPACE>' }) },
      { text: 'See which cached models take the space.', command: 'du -sh ~/.cache/huggingface/hub/* | sort -h | tail' },
    ]
  if (CHECKPOINT.test(around))
    return [
      look(),
      {
        text: `Write checkpoints to a larger disk, and keep fewer of them (${keeper(around)}). The file that failed is incomplete: do not resume from it.`,
      },
    ]
  const tmp = /^\/(?:var\/)?tmp\b/.exec(path ?? '')?.[0]
  if (/(?:^|\/)tmp(?:\/|$)/.test(path ?? ''))
    return [
      look(tmp),
      { text: 'Let the program put its temporary files on a larger disk.', command: setVariables(at, { TMPDIR: '<FOLDER_WITH_SPACE>' }) },
      { text: 'See what fills it.', command: `du -xh --max-depth=1 ${tmp ?? '/tmp'} | sort -h | tail` },
    ]
  // df -i, just below its head: space is left, inodes are not.
  if (/IUse%[^\n]{0,80}\n\S{1,80} {1,20}\d{1,15} {1,20}\d{1,15} {1,20}0 {1,20}100%/.test(around))
    return [
      {
        text: 'Not space but inodes ran out: too many small files. See which folder holds most of them; pack them into archives, or delete what is not needed.',
        command: `du --inodes -x --max-depth=2 ${path === undefined ? '<FOLDER>' : word(path.replace(/\/[^/]*$/, '') || '/')} | sort -n | tail`,
      },
    ]
  if (at.system === 'windows') return [path === undefined ? { text: 'Free space on the drive, or let the program write to another one.' } : look()]
  return [
    look(),
    ...(quota ? inQuota(at) : []),
    !quota && {
      text: 'See what fills it.',
      command: `du -xh --max-depth=1 ${path === undefined ? '<FOLDER>' : word(path.replace(/\/[^/]*$/, '') || '/')} | sort -h | tail`,
    },
  ]
}
/** Shared memory has its own kind: bigger disks do not help there. */
const SHARED_MEMORY = /\/dev\/shm\b|'\/psm_|posix_fallocate failed|<\/torch_|initialize shared memory key|shared memory ?\(shm\)/
const PATH = /(?<!File |process )(?:'|"|write |writing |to |at |location |to file )(~?\/[\w.@+/-]{2,200}|[A-Za-z]:\\{1,2}[^\s'"<>|]{2,200})/
/** Windows: the code is below the sentence that names the file. */
const WINDOWS_FULL = /\(os error 112\)|\[WinError 112\]/
/** Python names both files of a copy or a move: what lacks space is where the second one was to be. */
const COPIED = /: '[^'\n]{1,200}' -> '(~?\/[\w.@+/-]{2,200})'/
/** The line of the program's own source that complains, which no disk is full of. */
const SOURCE = / at \S{1,200}\.(?:c|cc|cpp|cxx|h|lua):\d{1,6}/g
const pathOf = ({ match, message: said, text, at }: Seen): string | undefined => {
  const message = said.replace(SOURCE, (place) => ' '.repeat(place.length))
  return (
    COPIED.exec(message.slice(match.index, match.index + 500))?.[1] ??
    PATH.exec(message.slice(Math.max(0, match.index - 240), match.index + 300))?.[1] ??
    (WINDOWS_FULL.test(match[0]) ? PATH.exec(linesAround(text, at, 4, 0))?.[1] : undefined)
  )
}
const facts = (seen: Seen): Facts => {
  const { match, message } = seen
  return known({
    errno: whole(group(/\[Errno (\d{1,3})\]|os error (\d{1,3})\)|error writing.{0,80}\((\d{1,3})\)/.exec(message.slice(Math.max(0, match.index - 40))))),
    path: pathOf(seen) ?? checkpointFolder(seen),
  })
}
/** Python's warnings: the program went on without (joblib with one process). */
const WARNED = /\b[A-Z]\w{2,40}Warning: \[Errno 28\]/
const severity = 'critical'
const title = 'Disk full'

export const diskFull = ruleFamily({
  id: 'disk-full',
  kind: 'disk_full',
  literals: [
    'iostream error',
    'unexpected pos ',
    ' requested and ',
    'o space left on device',
    'isk quota exceeded',
    'Not enough free disk space',
    'PytorchStreamWriter failed writing file',
    'There is not enough space on the disk',
    '(os error 112)',
    '[WinError 112]',
    'not enough disk space',
    'ENOSPC: ',
    'file write failed',
    'database or disk is full',
    'NoSpaceLeftError',
    ' blocks instead of ',
  ],
  facts,
  rules: [
    {
      // What torch.save says of a full disk: the stream fails, then its position does not fit.
      pattern: /\bRuntimeError: basic_ios::clear: iostream error|inline_container\.cc:\d{1,5}\] {0,2}\.? {0,2}unexpected pos \d/,
      severity: 'critical',
      title: 'A checkpoint could not be written',
      verdict: 'PyTorch could not write a checkpoint to its end: most likely the disk or a quota is full.',
      remedies: (reported) => remediesFor(reported),
    },
    {
      // What NumPy and Torch 7 say of a full disk: fwrite() took less than it was given.
      pattern: /\bOSError: \d{1,16} requested and \d{1,16} written\b|\bwrite error: wrote \d{1,16} blocks instead of \d/,
      severity,
      title,
      remedies: (matched) => remediesFor(matched),
      verdict: ({ match }) =>
        `${match[0].startsWith('OSError') ? 'NumPy could not write an array' : 'Torch could not write a file'} to its end: most likely the disk or a quota is full.`,
    },
    {
      pattern:
        /[Nn]o space left on device|\(os error 112\)|\[WinError 112\]|There is not enough space on the disk|database or disk is full|NoSpaceLeftError|\bENOSPC\b[:,]/,
      severity,
      title,
      remedies: (matched) => remediesFor(matched),
      verdict: (seen) => {
        const { message, text, at, situation } = seen
        const sizes = hubSizes(text.slice(Math.max(0, at - 4), at + 4).join(' '))
        if (sizes !== undefined) return sizes
        const store = STORE.exec(message)?.[0] ?? (PODMAN.test(message) ? 'Podman (~/.local/share/containers or /var/lib/containers)' : undefined)
        const image = /pull image "([\w./:@-]{3,160})"/.exec(message)?.[1] ?? pulledImage(situation().text)
        if (LAYER.test(message) && store !== undefined)
          return `An image layer${image === undefined ? '' : ` of ${image}`} could not be unpacked: the file system of ${store} has too little space.`
        if (LAYER.test(message))
          return `Docker could not unpack an image layer${image === undefined ? '' : ` of ${image}`}: the file system of its data root (usually /var/lib/docker on the host) has too little space.${rootFree(text.join('\n'))}`
        const path = pathOf(seen)
        if (/^[A-Za-z]:\\/.test(path ?? '')) return `A write to ${path} failed because drive ${path?.slice(0, 2)} has no space left.`
        if (WINDOWS_FULL.test(message)) return 'A write failed because the drive has no space left.'
        const full = fullIn(situation().text, path)
        if (full !== undefined) return `A write failed because the file system of ${full.mount} is full: df shows ${full.used} % of ${full.size} in use.`
        const checkpoint = path === undefined && CHECKPOINT.test(`${message} ${linesAround(text, at, 12, 6)}`) && !DOWNLOAD.test(message) && !PIP.test(message)
        return `A ${checkpoint ? 'checkpoint could not be written' : `write failed${path === undefined ? buildStep(situation().text) : ''}`} because the file system${path === undefined ? '' : ` with ${path}`} has no space (or no inodes) left.`
      },
      unless: ({ message, text, at }) =>
        WARNED.test(message) || SHARED_MEMORY.test(message) || SHARED_MEMORY.test(text[at - 1] ?? '') || SEMAPHORE.test(linesAround(text, at, 4, 0)),
    },
    {
      pattern: /[Dd]isk quota exceeded/,
      severity,
      title: 'Disk quota used up',
      remedies: (matched) => remediesFor(matched, true),
      verdict: ({ message }) => {
        const file = /quota exceeded: '([^'\n]{2,200})'/.exec(message)?.[1]
        return `A write${file === undefined ? '' : ` to ${file}`} failed because the quota of this user or directory is used up (space, or number of files); the disk itself may have space.`
      },
    },
    {
      pattern: /Not enough free disk space to download the file/,
      facts: ({ text, at }) => {
        const message = joinedFrom(text, at, 4)
        return known({
          free_bytes: hubFree(message),
          path: /target location (\/\S{1,300})/.exec(message)?.[1],
        })
      },
      severity: 'warning',
      title,
      remedies: (matched) => remediesFor(matched),
      verdict: ({ text, at }) => hubSizes(joinedFrom(text, at, 4)) ?? 'The hub client sees too little free space for the file that it has to download.',
      // On network file systems the free space is misread as none, and the download goes on.
      unless: ({ text, at }) => arrivedAll(joinedFrom(text, at, 4), text.slice(at + 1, at + 12)),
    },
    {
      pattern: /PytorchStreamWriter failed writing file[^]{0,80}?file write ?failed/,
      severity,
      title: 'A checkpoint could not be written',
      remedies: (matched) => remediesFor(matched),
      verdict: (seen) =>
        `torch.save could not write its file${facts(seen).path === undefined ? '' : ` (checkpoint ${facts(seen).path})`}. Likely the disk or the quota is full.`,
    },
    {
      pattern: /\bnot enough disk space\b/,
      severity: 'warning',
      title,
      remedies: (matched) => remediesFor(matched),
      verdict: 'A program refused to write because too little disk space is free.',
    },
  ],
})
