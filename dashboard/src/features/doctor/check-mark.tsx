// How a check ended: a shape and a word.
import type { CheckStatus } from '../../../../agent/model/doctor.ts'
import { STATUSES } from '../../text/doctor.ts'

export function CheckMark({ status }: { readonly status: CheckStatus }) {
  const { word, shape } = STATUSES[status]
  return (
    <span class="check-mark" data-status={status}>
      <span aria-hidden="true">{shape}</span>
      {word}
    </span>
  )
}
