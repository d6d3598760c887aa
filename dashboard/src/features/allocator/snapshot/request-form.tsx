// What would a request meet: a size, what the device has free, and the allocator's own rules as the answer.
import { useState } from 'preact/hooks'
import { answer, ask, device } from './state.ts'
import { param, setParams } from '../../../parts/route.ts'

const request = param('request')
const free = param('free')
const GOOD = new Set(['free_block', 'device'])

export function RequestForm() {
  const now = answer.value
  const [size, setSize] = useState(request.peek() ?? '')
  const [left, setLeft] = useState(free.peek() ?? '')
  const submit = (): void => {
    setParams({ request: size || undefined, free: left || undefined })
    ask({ request: size, free: left, device: device.peek()?.device ?? 0 })
  }
  const wrong = (field: 'request' | 'free'): boolean => now.state === 'unclear' && now.field === field
  const outcome = now.state === 'there' ? now.answer?.outcome : undefined
  return (
    <form
      class="request-form"
      aria-labelledby="request-title"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <h3 id="request-title">What would fit?</h3>
      <div class="request-fields">
        <label class="choice">
          <span>A request of</span>
          <input
            name="request"
            placeholder="2 GiB"
            autocomplete="off"
            spellcheck={false}
            value={size}
            aria-invalid={wrong('request')}
            aria-describedby="request-answer"
            onInput={(event) => setSize(event.currentTarget.value)}
          />
        </label>
        <label class="choice">
          <span>while the GPU has free</span>
          <input
            name="free"
            placeholder="not known"
            autocomplete="off"
            spellcheck={false}
            value={left}
            aria-invalid={wrong('free')}
            aria-describedby="request-answer"
            onInput={(event) => setLeft(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="strong">
          Ask
        </button>
      </div>
      <p id="request-answer" class="request-answer" role="status" data-outcome={outcome} data-good={outcome !== undefined && GOOD.has(outcome)}>
        {now.state === 'unclear'
          ? now.why
          : now.state === 'there'
            ? now.answer?.verdict
            : 'Answered by the allocator’s own rules: rounding, pools, best fit, splitting, flush.'}
      </p>
    </form>
  )
}
