// When no probe is connected: what is in its way, what it would show, and how to connect one.
import { frame } from '../../../parts/live/state.ts'
import { Command } from '../../../parts/command.tsx'
import { CopyButton } from '../../../parts/copy-button.tsx'

/** probe/README.md: the folder is that of the bundle. */
const VENV = `pip install /opt/warpwatch/current/probe/python
WARPWATCH_PROBE=1 python train.py`
const COMPOSE = `    volumes: ["/opt/warpwatch/current/probe/python:/opt/warpwatch-probe:ro"]
    environment: { PYTHONPATH: /opt/warpwatch-probe/sitecustomize }`
const PROGRAM = 'import warpwatch_probe'
const CHECK = 'python -m warpwatch_probe'

function Lines({ text, of }: { readonly text: string; readonly of: string }) {
  return (
    <div class="command lines">
      <pre>
        <Command text={text} />
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
        The driver sees how much memory a process holds. Only PyTorch knows how much of it is in use, how much is cache, and how much is stranded between live
        blocks. Connect a probe and these figures come a few seconds after the first tensor. Your program stays as it is.
      </p>
      <h3>In a virtual environment</h3>
      <Lines text={VENV} of="the lines for a virtual environment" />
      <h3>In a compose file</h3>
      <Lines text={COMPOSE} of="the two lines" />
      <p>
        The folder is that of the bundle; the Debian package has it in <code>/usr/lib/warpwatch/probe/python</code>, a checkout in <code>probe/python</code>.
      </p>
      <h3>Or in the program</h3>
      <Lines text={PROGRAM} of="the line" />
      <p>
        Still nothing? <code>{CHECK}</code> says whether the agent can be reached from there. A <a href="#/allocator/snapshot">memory snapshot</a> can be read
        without the probe.
      </p>
    </div>
  )
}
