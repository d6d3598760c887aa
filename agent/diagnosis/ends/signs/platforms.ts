// Lines by which what runs jobs for others ends one: CI systems, clouds' training and batch services, HTCondor, Flux, Argo, Slurm's seff.
import type { Facts } from '../../../model/facts.ts'
import type { LogKind } from '../../../model/kinds.ts'

export type OrderRule = {
  readonly pattern: RegExp
  readonly kind: LogKind
  readonly facts?: (match: RegExpExecArray) => Facts
  /** In words with which people also speak about ends. */
  readonly worded?: true
}

const jobOf = ([, job]: RegExpExecArray): Facts => ({ job_id: Number(job) })
const lostNode = (): Facts => ({ pattern: 'node_failed' })

export const PLATFORM_RULES: readonly OrderRule[] = [
  {
    // Jenkins, GitLab, GitHub Actions and their runners, Azure Pipelines
    pattern:
      /\bBuild timed out \(after \d{1,6} (?:second|minute|hour)s?\)|^ERROR: Job failed: execution took longer than \d|\bexceeded the maximum execution time of \d{1,6} (?:minute|hour)s?\b|^(?:##\[error\]|Error: )?The action '[^'\n]{1,120}' has timed out after \d|\bran longer than the maximum time of \d{1,6} (?:minute|hour)s?\b/,
    kind: 'time_limit',
  },
  {
    // AWS Batch, SageMaker, Modal, HTCondor, Flux, systemd
    pattern:
      /\bJob attempt duration exceeded timeout\b|\bMax(?:Runtime|WaitTime)Exceeded\b|\bFunctionTimeoutError: .{0,120}\bhit its timeout of \d|\bexceeded (?:its )?allowed (?:job|execute) duration\b|\bjob\.exception type=timeout\b|: Failed with result 'timeout'|: Service reached runtime time limit\b/,
    kind: 'time_limit',
  },
  {
    // CircleCI; salloc; seff
    pattern: /^Too long with no output \(exceeded \d|\bhas exceeded its time limit and its allocation has been revoked\b|^State: (?:TIMEOUT|DEADLINE)\b/,
    kind: 'time_limit',
  },
  { pattern: /^State: PREEMPTED\b/, kind: 'preempted' },
  // Snakemake, of a job that it gave to Slurm
  { pattern: /\bSLURM-job '(\d{1,12})' failed, SLURM status is: '(?:TIMEOUT|DEADLINE)'/, kind: 'time_limit', facts: jobOf },
  { pattern: /\bSLURM-job '(\d{1,12})' failed, SLURM status is: 'PREEMPTED'/, kind: 'preempted', facts: jobOf },
  { pattern: /\bSLURM-job '(\d{1,12})' failed, SLURM status is: 'CANCELLED/, kind: 'cancelled', facts: jobOf },
  { pattern: /^State: NODE_FAIL\b/, kind: 'job_killed', facts: lostNode },
  { pattern: /^State: CANCELLED\b/, kind: 'cancelled' },
  {
    // GitHub Actions, GitLab, Jenkins, HTCondor, Ray's job server
    pattern:
      /^(?:##?\[error\]|Error: )?The operation was cancell?ed\.?$|^ERROR: Job failed: cancell?ed$|^Aborted by (?!PBS Server)[A-Z][\w.@-]{0,60}(?: [\w.@()-]{1,60}){0,3}$|\bvia condor_rm \(by user\b|^# Received cancellation signal, interrupting$|\bJob 'raysubmit_\w{1,40}' was stopped\b/,
    kind: 'cancelled',
  },
  {
    pattern:
      /\bHost EC2 \(instance i-\w{1,40}\) terminated\b|\b[Cc]luster (?:\S{1,80} )?(?:was|is|has been) preempted\b|^\d{3} \([\d.]{1,40}\) .{10,25} Job was evicted\./,
    kind: 'preempted',
  },
  {
    pattern:
      /\bThe runner has received a shutdown signal\b|\brunner:? (?:\S{1,120} )?lost communication with the server\b|\bTaintManagerEviction\b|^\d{3} \([\d.]{1,40}\) .{10,25} Job reconnection failed|^\S{1,160} {1,20}(?:Error|Failed) {1,20}pod deleted$/,
    kind: 'job_killed',
    facts: lostNode,
  },
]

/** Without any of these none of the rules holds. */
export const PLATFORM_MAY =
  /imed out|timeout|longer than|execution time|Exceeded|exceeded |time limit|ancell?(?:ed|ation signal)|Aborted by|condor_rm|was stopped|^State: |SLURM status|Too long|terminated|reempted|evicted|lost comm|reconnection failed|shutdown signal|Taint|pod deleted/
