// What the agents tell each other of a job whose ranks are on several hosts: each keeps what it found out last, and asks the others for theirs.
import { EVIDENCE_PATH, MOST_EVIDENCE, type HangEvidence } from '../model/hosts.ts'
import type { HostLink } from './link.ts'

/** A job that hangs is looked at each 45 s. */
const KEPT_MS = 100_000
const MOST_JOBS = 64
const LIMITS = { timeoutMs: 3_000, maxBytes: MOST_EVIDENCE }

export function createHangEvidence(links: () => readonly HostLink[], now: () => number = Date.now): HangEvidence {
  const kept = new Map<string, { readonly at: number; readonly evidence: string }>()
  const fresh = (master: string): string | undefined => {
    const found = kept.get(master)
    return found === undefined || now() - found.at > KEPT_MS ? undefined : found.evidence
  }
  const ask = async (link: HostLink, path: string): Promise<string | undefined> => {
    const answer = await link.get(path, LIMITS)
    return 'problem' in answer || answer.status !== 200 ? undefined : answer.body.toString('utf8')
  }
  return {
    share(master, evidence) {
      for (const known of kept.keys()) if (fresh(known) === undefined) kept.delete(known)
      const [oldest] = kept.keys()
      if (kept.size >= MOST_JOBS && oldest !== undefined && !kept.has(master)) kept.delete(oldest)
      kept.set(master, { at: now(), evidence })
    },
    of: fresh,
    async elsewhere(master) {
      const path = `${EVIDENCE_PATH}?master=${encodeURIComponent(master)}`
      const answers = await Promise.all(links().map((link) => ask(link, path)))
      return answers.filter((answer) => answer !== undefined)
    },
  }
}
