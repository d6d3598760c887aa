// Who used what: GPU time, energy and tokens by user, namespace and Slurm account, over any range.
import * as units from '@grafana/grafana-foundation-sdk/units'
import { gpuEnergyJoulesTotal } from '../agent/metrics/gpu-power.ts'
import { jobGpuSecondsTotal, usageEnergyJoulesTotal, usageGpuSecondsTotal, usageTokensTotal } from '../agent/metrics/job.ts'
import type { Board } from './parts/board.ts'
import { GREEN, ORANGE } from './parts/look.ts'
import { figure, lines } from './parts/panels.ts'
import { JOB } from './parts/select.ts'
import { rows } from './parts/table.ts'

const GPU_S = usageGpuSecondsTotal.name
const state = (name: string): string => `${GPU_S}{${JOB},state="${name}"}`
const over = (series: string): string => `increase(${series}[$__range])`

const totals = [
  figure({
    title: 'GPU time with work',
    width: 5,
    help: 'In which kernels ran, over all GPUs and the range above. Two GPUs busy for an hour are two hours.',
    unit: units.Seconds,
    queries: [{ expr: `sum(${over(state('active'))})` }],
  }),
  figure({
    title: 'GPU time held without work',
    width: 5,
    help: 'GPU memory was held and no kernel ran, split evenly between those that held a GPU together.',
    unit: units.Seconds,
    queries: [{ expr: `sum(${over(state('idle'))})` }],
  }),
  figure({
    title: 'GPU time lost',
    width: 5,
    help: 'Work of failed runs since their last checkpoint, or since their start.',
    unit: units.Seconds,
    queries: [{ expr: `sum(${over(`${jobGpuSecondsTotal.name}{${JOB},state="lost"}`)})` }],
  }),
  figure({
    title: 'Energy of jobs',
    width: 5,
    help: "By the GPUs' own energy counters. CPUs, memory and fans of the host are not in it.",
    unit: 'joule',
    queries: [{ expr: `sum(${over(`${usageEnergyJoulesTotal.name}{${JOB}}`)})` }],
  }),
  figure({
    title: 'Energy of GPUs that nobody held',
    width: 4,
    help: "What the GPUs' counters rose by, minus the energy of jobs, which is updated every ten seconds: over a short range the difference can be off by ten seconds' worth.",
    unit: 'joule',
    queries: [{ expr: `clamp_min(sum(${over(`${gpuEnergyJoulesTotal.name}{${JOB}}`)}) - sum(${over(`${usageEnergyJoulesTotal.name}{${JOB}}`)}), 0)` }],
  }),
]

/** One table for each way to ask who. */
const by = (label: string, title: string) =>
  rows({
    title,
    help: 'Over the range above, all hosts. An empty name: the owner is not known, as the process ended before it was identified or has no such label.',
    height: 10,
    columns: [
      { label, name: label[0] === undefined ? label : label[0].toUpperCase() + label.slice(1) },
      { expr: `sum by (${label}) (${over(state('held'))})`, name: 'GPU time held', unit: units.Seconds },
      { expr: `sum by (${label}) (${over(state('active'))})`, name: 'with work', unit: units.Seconds },
      { expr: `sum by (${label}) (${over(state('idle'))})`, name: 'idle', unit: units.Seconds },
      {
        expr: `sum by (${label}) (${over(state('active'))}) / (sum by (${label}) (${over(state('active'))}) + sum by (${label}) (${over(state('idle'))}))`,
        name: 'Busy',
        unit: units.PercentUnit,
        decimals: 0,
      },
      { expr: `sum by (${label}) (${over(`${usageEnergyJoulesTotal.name}{${JOB}}`)})`, name: 'Energy', unit: 'joule' },
      { expr: `sum by (${label}) (${over(`${usageTokensTotal.name}{${JOB}}`)})`, name: 'Tokens', decimals: 0 },
    ],
    worst: ['GPU time held'],
    none: 'nobody',
  })

const overTime = [
  lines({
    title: 'GPUs in use',
    help: 'Means over five minutes: GPUs with work, and GPUs held without any.',
    stacked: true,
    queries: [
      { expr: `sum(rate(${state('active')}[5m]))`, legend: 'with work', colour: GREEN },
      { expr: `sum(rate(${state('idle')}[5m]))`, legend: 'held, idle', colour: ORANGE },
    ],
  }),
  lines({
    title: 'GPUs with work, by user',
    help: 'Means over five minutes.',
    stacked: true,
    queries: [{ expr: `sum by (user) (rate(${state('active')}[5m]))`, legend: '{{user}}' }],
  }),
  lines({
    title: 'Power, by user',
    width: 24,
    help: 'From the energy of five minutes.',
    stacked: true,
    unit: units.Watt,
    queries: [{ expr: `sum by (user) (rate(${usageEnergyJoulesTotal.name}{${JOB}}[5m]))`, legend: '{{user}}' }],
  }),
]

export const usage: Board = {
  name: 'usage',
  title: 'who used what',
  about:
    'GPU time, energy and tokens by user, namespace and Slurm account. For months, and for prices, ask the hosts: warpwatch jobs --by user --since 30d. Generated: edit grafana/*.ts in the repository.',
  variables: [],
  from: 'now-24h',
  rows: [
    ['Totals', totals],
    ['By owner', [by('user', 'Users'), by('namespace', 'Namespaces'), by('account', 'Slurm accounts')]],
    ['Over time', overTime],
  ],
}
