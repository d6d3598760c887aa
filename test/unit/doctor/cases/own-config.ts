// Cases of the check own-config.
import type { CheckCase } from '../scene.ts'

const yaml = '/etc/warpwatch/warpwatch.yaml'

export const cases: readonly CheckCase[] = [
  { about: 'the defaults', scene: {}, status: 'pass' },
  { about: 'open to all', scene: { config: { 'http.listen': '0.0.0.0:9839', 'http.insecure': true } }, status: 'warn', says: /without a token/ },
  { about: 'insecure, and on this machine only', scene: { config: { 'http.insecure': true } }, status: 'pass' },
  { about: 'a token that all can read', scene: { files: { [yaml]: { text: 'http:\n  token: abcdefgh\n', mode: 0o644 } } }, status: 'warn', says: /chmod 640/ },
  {
    about: 'an address that is a secret',
    scene: { files: { [yaml]: { text: 'notifiers:\n  - {name: team, type: slack, url: https://hooks.slack.com/services/T/B/x}\n', mode: 0o644 } } },
    status: 'warn',
  },
  { about: 'a token that its group can read', scene: { files: { [yaml]: { text: 'http:\n  token: abcdefgh\n', mode: 0o640 } } }, status: 'pass' },
  { about: 'a reference is no secret', scene: { files: { [yaml]: { text: 'http:\n  token: {env: TOKEN}\n', mode: 0o644 } } }, status: 'pass' },
  { about: 'GPUs switched off', scene: { config: { 'gpu.source': 'off' } }, status: 'warn', says: /switched off/ },
  { about: 'simulated', scene: { config: { 'simulate.scenario': 'healthy' } }, status: 'skipped' },
]
