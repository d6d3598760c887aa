// What the agent says of the kills that the simulated clusters show, at each of them: who, which limit, and a first remedy for that place.
import { expect, test } from 'vitest'
import { createLogJudge } from '../../../agent/diagnosis/live-judge.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import { createHeardDiagnosis } from '../../setup/heard-diagnosis.ts'
import { simulate } from '../simulated/simulate.ts'

/** Each incident as it was reported at each count. */
function reported(scenario: string, seconds: number): readonly Incident[] {
  const heard = new Map<string, Incident>()
  const diagnosis = createHeardDiagnosis({
    judge: createLogJudge(logScanner()).judge,
    hostname: 'gpu-host',
    onChange: (incident) => {
      if (incident.status === 'firing') heard.set(`${incident.id} ${incident.count}`, incident)
    },
  })
  for (const { events } of simulate(scenario, seconds)) events.forEach(diagnosis.ingest)
  diagnosis.flush()
  return [...heard.values()]
}

test('kubernetes: one incident of the pod, counted at each kill', () => {
  const incidents = reported('kubernetes', 480)
  expect(incidents.map(({ kind, count, title }) => `${kind} ${count} ${title}`)).toEqual([
    'host_oom_kill 1 Pod finetune-lora-7h2qd was killed at its memory limit (96 GiB)',
    'host_oom_kill 2 Pod finetune-lora-7h2qd was killed at its memory limit (96 GiB)',
  ])
  for (const { remedies, verdict } of incidents) {
    expect(verdict).toContain('the memory limit of pod finetune-lora-7h2qd (96 GiB) was reached')
    expect(remedies[0]?.command).toBe('kubectl describe pod finetune-lora-7h2qd -n training')
    expect(JSON.stringify(remedies)).not.toContain('docker')
  }
})

test('slurm: each job by its own number', () => {
  const kills = reported('slurm', 480).filter(({ title }) => title.includes('memory limit'))
  expect(kills.map(({ title, remedies }) => `${title}: ${remedies[0]?.command ?? ''}`)).toEqual([
    expect.stringMatching(/^Slurm job 48230 was killed at its memory limit \(64 GiB\): sacct -j 48230 /),
    expect.stringMatching(/^Slurm job 48240 was killed at its memory limit \(64 GiB\): sacct -j 48240 /),
  ])
  expect(kills.every(({ remedies }) => remedies.some(({ command }) => command === 'sbatch --mem=128G <SCRIPT>'))).toBe(true)
})

test('mig: the instance is full, whatever the card has free', () => {
  const [incident] = reported('mig', 300).filter(({ kind }) => kind === 'cuda_oom')
  expect(incident?.title).toMatch(/^old-experiment ran out of memory on GPU 7 at sweep\.py:131: its MIG instance of 39\.5 GiB is full$/)
  expect(incident?.verdict).toContain('which belongs to its other instances')
  expect(incident?.remedies[0]?.text).toMatch(/^Give the job a larger MIG instance/)
})
