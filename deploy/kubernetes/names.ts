// What the objects call each other by.
import { VERSION } from '../../agent/lib/version.ts'

export const NAME = 'warpwatch'
export const NAMESPACE = 'warpwatch'
export const PORT = 9839
/** Where the history is on each node, and where probes find the agent: the same paths as on a host without Kubernetes. */
export const DATA_DIR = '/var/lib/warpwatch'
export const PROBE_DIR = '/run/warpwatch'
/** Made by the user before the rest: no token belongs into a repository. */
export const TOKEN_SECRET = { name: 'warpwatch-token', key: 'token' } as const
/** No registry is named: `images:` of the user's own kustomization does that. */
export const IMAGE = `warpwatch:${VERSION}`
/** Where Prometheus usually runs; only from there the port is reached. */
export const MONITORING_NAMESPACE = 'monitoring'

export const SELECTOR = { 'app.kubernetes.io/name': NAME } as const
export const LABELS = { ...SELECTOR, 'app.kubernetes.io/part-of': NAME } as const
