// What a card has of errors, and what is to be done about them.
import * as units from '@grafana/grafana-foundation-sdk/units'
import {
  gpuEccErrorsTotal,
  gpuRemappedRows,
  gpuRetiredPages,
  gpuRetiredPagesPending,
  gpuRowRemapFailure,
  gpuRowRemapPending,
} from '../../agent/metrics/gpu-errors.ts'
import { gpuPresent, gpuRecoveryAction } from '../../agent/metrics/gpu-identity.ts'
import { incidentActive } from '../../agent/metrics/incident.ts'
import { gpuXidErrorsTotal, gpuXidLastTimestampSeconds } from '../../agent/metrics/xid.ts'
import { BAD, BLUE, byState, GREEN, ORANGE, PURPLE, SEVERITIES, SKY, words } from '../parts/look.ts'
import { figure, lines, states } from '../parts/panels.ts'
import { toContainer } from '../parts/links.ts'
import { GPU } from '../parts/select.ts'
import { rows } from '../parts/table.ts'

export const health = [
  lines({
    title: 'ECC errors',
    help: 'Corrected ones cost nothing, but many of them in a short time announce more. An uncorrected one ends a program: drain and reset the card. Aggregate counts over the life of the board.',
    queries: [
      { expr: `max(${gpuEccErrorsTotal.name}{${GPU},type="corrected",scope="volatile"})`, legend: 'corrected' },
      { expr: `max(${gpuEccErrorsTotal.name}{${GPU},type="uncorrected",scope="volatile"})`, legend: 'uncorrected', colour: BAD },
      { expr: `max(${gpuEccErrorsTotal.name}{${GPU},type="corrected",scope="aggregate"})`, legend: 'corrected, aggregate', colour: SKY },
      { expr: `max(${gpuEccErrorsTotal.name}{${GPU},type="uncorrected",scope="aggregate"})`, legend: 'uncorrected, aggregate', colour: ORANGE },
    ],
  }),
  lines({
    title: 'Remapped rows and retired pages',
    help: 'Memory that the card has replaced (Ampere and newer) or taken out of use (before). Several for uncorrected errors: have the board checked.',
    queries: [
      { expr: `max by (type) (${gpuRemappedRows.name}{${GPU}})`, legend: 'rows, {{type}}', colour: GREEN },
      { expr: `max by (cause) (${gpuRetiredPages.name}{${GPU}})`, legend: 'pages, {{cause}}', colour: PURPLE },
    ],
  }),
  states({
    title: 'Waits or failed',
    help: 'A remapping or retirement that waits takes effect at the next reset of the card: drain it. A remapping that failed: replace the board.',
    height: 6,
    queries: [
      { expr: `max(${gpuRowRemapPending.name}{${GPU}})`, legend: 'row remap pending' },
      { expr: `max(${gpuRowRemapFailure.name}{${GPU}})`, legend: 'remapping failed' },
      { expr: `max(${gpuRetiredPagesPending.name}{${GPU}})`, legend: 'page retirement pending' },
    ],
    mappings: byState('no', 'yes', BAD),
  }),
  figure({
    title: 'What the driver asks for',
    help: 'The recovery that the driver wants (R565 and newer). Anything but nothing: stop work on this card and do it.',
    width: 6,
    height: 6,
    queries: [{ expr: `max(${gpuRecoveryAction.name}{${GPU}})` }],
    mappings: words(
      ...['nothing', 'reset the GPU', 'reboot', 'drain P2P', 'drain and reset', 'recover the IMEX domain', 'bus reset', 'system reboot'].map(
        (text, code) => [String(code), text, code === 0 ? BLUE : BAD] as const,
      ),
    ),
    none: 'not reported',
  }),
  figure({
    title: 'Is it there',
    help: 'Whether the driver lists the card. Gone: it fell off the bus or did not come up after a reboot; reset or reseat it.',
    width: 6,
    height: 6,
    queries: [{ expr: `max(${gpuPresent.name}{${GPU}})` }],
    mappings: words(['0', 'gone', BAD], ['1', 'listed', BLUE]),
    none: 'not reported',
  }),
  rows({
    title: 'Xids',
    help: 'Error numbers that the driver reported since the agent started. Each has a meaning of its own: the incident of kind xid and its runbook explain it.',
    width: 12,
    height: 7,
    columns: [
      { label: 'xid', name: 'Xid', width: 100 },
      { expr: `max by (xid) (${gpuXidErrorsTotal.name}{${GPU}})`, name: 'Times' },
      { expr: `max by (xid) (${gpuXidLastTimestampSeconds.name}{${GPU}}) * 1000`, name: 'Last', unit: units.DateTimeFromNow },
    ],
    worst: ['Last'],
    none: 'none since the agent started',
  }),
  rows({
    title: 'Firing now',
    help: 'Incidents of this card. The kind leads to its runbook; verdict and evidence are on the page of the agent.',
    width: 12,
    height: 7,
    columns: [
      { label: 'severity', name: 'Severity', width: 110, mappings: words(...SEVERITIES) },
      { label: 'kind', name: 'Kind', links: [{ title: 'Runbook', url: 'http://${instance}/runbooks/${__data.fields.kind}', targetBlank: true }] },
      { label: 'container', name: 'Container', links: [toContainer()] },
      { expr: `max by (severity, kind, container) (${incidentActive.name}{${GPU}})`, name: 'fires' },
    ],
    hidden: ['fires'],
    none: 'nothing fires',
  }),
]
