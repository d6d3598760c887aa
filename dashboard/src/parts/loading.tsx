// What is in the place of the figures while none came yet, or the agent does not answer.
import { connection } from './live/state.ts'

export function Loading() {
  const waiting = connection.value.state === 'waiting'
  return (
    <div class="notice" role="status">
      <h2>{waiting ? 'The agent does not answer' : 'Waiting for the first readings'}</h2>
      {waiting ? (
        <p>
          This page keeps trying. On the host, see whether the agent runs: <code>systemctl status warpwatch</code> or <code>docker ps -f name=warpwatch</code>;
          what it said last: <code>journalctl -u warpwatch -n 50</code>. Behind an SSH tunnel, open the tunnel again.
        </p>
      ) : (
        <p>They come within a second or two of the agent being up.</p>
      )}
      {!waiting && (
        <div class="skeletons" aria-hidden="true">
          {Array.from({ length: 4 }, (_, i) => (
            <span key={i} class="skeleton pulsing" />
          ))}
        </div>
      )}
    </div>
  )
}
