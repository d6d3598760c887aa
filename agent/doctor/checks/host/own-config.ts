// Warpwatch's configuration keeps its secrets, and leaves nothing open or switched off unawares.
import { defineCheck, type Finding } from '../../definition.ts'
import { skipped } from '../../parts/nvidia-pci.ts'

const FILES = ['/etc/warpwatch/warpwatch.yaml']
const LOOPBACK = /^(127\.|localhost:|\[::1\])/
/** Keys that hold a secret with a value written out, not a reference ({env: NAME}, {file: PATH}); addresses that are secrets themselves. */
const SECRET =
  /\b(?:token|password|secret|routing_key|api_key)\s*:\s*(?![{\s]|["']{2})\S+|https:\/\/(?:hooks\.slack\.com|discord(?:app)?\.com\/api\/webhooks|api\.telegram\.org)\//

export const ownConfig = defineCheck({
  id: 'own-config',
  group: 'warpwatch',
  title: 'the configuration keeps its secrets and leaves nothing open unawares',
  covers: [],
  async run({ files, config }) {
    if (config.simulate.scenario !== 'off') return skipped('a simulated host')
    const findings: Finding[] = []
    const { listen, insecure, token } = config.http
    if (insecure && token === '' && !LOOPBACK.test(listen))
      findings.push({
        status: 'warn',
        subject: 'http.insecure',
        summary: `whoever reaches ${listen} reads everything, without a token`,
        remedies: [
          {
            text: 'Set a token (made by openssl rand -hex 24) in /etc/default/warpwatch, take http.insecure out, then start it again.',
            command: 'sudoedit /etc/default/warpwatch   # its variable is WARPWATCH_HTTP__TOKEN',
          },
          { text: 'Or listen on this machine only (http.listen: 127.0.0.1:9839), behind a proxy that asks who one is.' },
        ],
      })
    for (const path of FILES) {
      const facts = await files.stat(path)
      if (facts === undefined || (facts.mode & 0o004) === 0) continue
      if (!SECRET.test((await files.readText(path)) ?? '')) continue
      findings.push({
        status: 'warn',
        subject: path,
        summary: 'it holds secrets, and every user of this host may read it',
        remedies: [{ text: 'Let only its owner and group read it.', command: `sudo chmod 640 ${path}` }],
      })
    }
    if (config.gpu.source === 'off')
      findings.push({
        status: 'warn',
        subject: 'gpu.source',
        summary: 'GPUs are switched off in the configuration: none is watched',
        remedies: [
          {
            text: 'If this host has GPUs, remove gpu.source: off from the configuration: the default, auto, finds them.',
            command: 'sudoedit /etc/warpwatch/warpwatch.yaml   # gpu: { source: auto }\nsudo systemctl restart warpwatch',
          },
          { text: 'It may be set as WARPWATCH_GPU__SOURCE instead, in /etc/default/warpwatch or the compose file: remove it there, then restart the agent.' },
        ],
      })
    return findings.length > 0 ? findings : [{ status: 'pass', summary: `nothing open, nothing switched off; it listens on ${listen}` }]
  },
})
