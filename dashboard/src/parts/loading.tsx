// What stands in the place of the figures while none came yet, or the agent does not answer.
import { connection } from './live/state.ts'

export function Loading() {
  const waiting = connection.value.state === 'waiting'
  return (
    <div class="notice" role="status">
      <h2>{waiting ? 'The agent does not answer' : 'Waiting for the first readings'}</h2>
      <p>
        {waiting
          ? 'This page keeps trying. If it stays so, look whether the agent runs and whether your tunnel to it stands.'
          : 'They come within a second or two of the agent being up.'}
      </p>
      <div class="skeletons" aria-hidden="true">
        {Array.from({ length: 4 }, (_, i) => (
          <span key={i} class={waiting ? 'skeleton' : 'skeleton pulsing'} />
        ))}
      </div>
    </div>
  )
}
