// There is room where images, containers and the agent's own history lie.
import { GIB, diskText } from '../../../text/bytes.ts'
import { defineCheck, type Finding } from '../../definition.ts'
import { skipped } from '../../parts/nvidia-pci.ts'

/** Nothing can be relied on below: a log, a lock, a pid file fails. */
const FULL = GIB
/** An image with CUDA and PyTorch unpacks to 8 to 20 GiB (pytorch/pytorch on Docker Hub): one more does not fit below. */
const LOW = 20 * GIB
const LOW_RATIO = 0.05

export const diskSpace = defineCheck({
  id: 'disk-space',
  group: 'host',
  title: 'there is space where images, containers and history are stored',
  covers: ['disk_full'],
  async run({ files, engine, config }) {
    const facts = await engine().catch(() => undefined)
    const places: readonly (readonly [path: string, what: string])[] = [
      ['/', 'the root'],
      ...(facts?.dataRoot === undefined ? [] : [[facts.dataRoot, `images and containers of ${facts.kind}`] as const]),
      [config.data_dir, "Warpwatch's history"],
    ]
    const findings: Finding[] = []
    const seen = new Set<string>()
    for (const [path, what] of places) {
      const space = await files.space(path).catch(() => undefined)
      if (space === undefined || space.totalBytes === 0) continue
      // Folders of one file system say the same.
      const key = `${space.totalBytes} ${space.availableBytes}`
      if (seen.has(key)) continue
      seen.add(key)
      const { totalBytes, availableBytes } = space
      const subject = `${path} (${what})`
      const summary = `${diskText(availableBytes)} of ${diskText(totalBytes)} are free`
      const status = availableBytes < FULL ? 'fail' : availableBytes < LOW && availableBytes < totalBytes * LOW_RATIO ? 'warn' : 'pass'
      if (status === 'pass') {
        findings.push({ status, subject, summary })
        continue
      }
      findings.push({
        status,
        subject,
        summary: `${summary}; an image with CUDA and PyTorch needs up to 20 GiB`,
        remedies: [
          { text: 'See what takes the space.', command: `sudo du -xh --max-depth=2 ${path} 2>/dev/null | sort -h | tail -n 20; docker system df` },
          { text: 'Free space: old caches, images that nothing uses.', command: 'hf cache prune; pip cache purge; docker image prune' },
          { text: 'Or send caches to a larger disk: HF_HOME, TMPDIR, TORCH_HOME; data_dir in warpwatch.yaml for its history.' },
        ],
      })
    }
    return findings.length > 0 ? findings : skipped('no file system could be asked')
  },
})
