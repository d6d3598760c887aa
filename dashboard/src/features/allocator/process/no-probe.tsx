// When no probe speaks: what stands in its way, what it would show, and the two lines that bring it.
import { frame } from '../../../parts/live/state.ts'
import { CopyButton } from '../../../parts/copy-button.tsx'

/** probe/README.md, "Two lines in a compose file": the folder of the bundle. */
const COMPOSE = `    volumes: ["/opt/warpwatch/current/probe/python:/opt/warpwatch-probe:ro"]
    environment: { PYTHONPATH: /opt/warpwatch-probe/sitecustomize }`
const PROGRAM = 'import warpwatch_probe'

function Lines({ text, of }: { readonly text: string; readonly of: string }) {
  return (
    <div class="command lines">
      <pre>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} label="copy" of={of} />
    </div>
  )
}

/** The agent's own trouble, such as a socket that another agent has taken: no line in a compose file mends it. */
function Trouble() {
  const found = (frame.value?.host.gaps ?? []).filter(({ measure }) => measure === 'allocator')
  return found.map(({ detail, reason }) => (
    <p key={detail ?? reason} class="bad" role="status">
      No probe can connect to this agent: {detail ?? reason}
    </p>
  ))
}

export function NoProbe() {
  return (
    <div class="notice no-probe">
      <h2>No PyTorch probe connected</h2>
      <Trouble />
      <p>
        The driver sees how much memory a process holds. PyTorch alone knows how much of it is in use, how much is cache, and how much lies stranded between
        live blocks. Two lines in the compose file of your training let it say so; your program and your image stay as they are:
      </p>
      <Lines text={COMPOSE} of="the two lines" />
      <p>
        The folder is that of the bundle; the Debian package has it in <code>/usr/lib/warpwatch/probe/python</code>. Where the probe is installed in the image,
        one line in the program is enough:
      </p>
      <Lines text={PROGRAM} of="the line" />
      <p>Figures come a few seconds after the first tensor. A memory snapshot can be read without the probe.</p>
    </div>
  )
}
