// Who held the card's memory at the moment looked at.
import type { Incident } from '../../../../agent/model/incident.ts'
import { processesAt, type Window } from '../../state/incidents-lines.ts'
import { momentOf } from '../../state/incidents-moment.ts'
import { DASH, memory } from '../../text/format.ts'
import { offsetText } from '../../text/facts.ts'
import { Part } from './account.tsx'

type Props = { readonly incident: Incident; readonly fault: number; readonly window: Window }

export function ProcessesThen({ incident: { evidence }, fault, window }: Props) {
  const second = momentOf(fault, window)
  const rows = processesAt(evidence, second, fault)
  return (
    <Part id="processes-then" title={`Processes on the GPU, ${offsetText(second - fault)}`}>
      <table role="table" aria-labelledby="processes-then-title">
        <thead role="rowgroup">
          <tr role="row">
            {['Process', 'PID', 'Container', 'GPU', 'GPU memory'].map((head) => (
              <th key={head} role="columnheader" scope="col" class={head === 'PID' || head === 'GPU memory' ? 'numeric' : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={row.key} role="row" data-absent={row.absent}>
              <td role="cell" class="name" data-label="Process">
                {row.process ?? DASH}
              </td>
              <td role="cell" class="numeric" data-label="PID">
                {row.pid}
                {row.innerPid !== undefined && row.innerPid !== row.pid && <span class="sub">{` (${row.innerPid} inside)`}</span>}
              </td>
              <td role="cell" data-label="Container">
                {row.container ?? <span class="faint">host</span>}
              </td>
              <td role="cell" data-label="GPU">
                {row.gpu ?? DASH}
              </td>
              <td role="cell" class="numeric" data-label="GPU memory">
                {row.bytes === undefined ? <span class="faint">{row.absent ?? DASH}</span> : memory(row.bytes)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Part>
  )
}
