// No fault was found: what that means, and what to try next.
import { CopyButton } from '../../parts/copy-button.tsx'
import { hrefOf } from '../../parts/route.ts'
import type { NotText } from './reader/log-reader.ts'

const NOT_TEXT: Readonly<Record<NotText, { readonly is: string; readonly command: (name: string) => string }>> = {
  gzip: { is: 'is compressed (gzip)', command: (name) => `zcat ${name} > log.txt` },
  zstd: { is: 'is compressed (zstd)', command: (name) => `zstdcat ${name} > log.txt` },
  xz: { is: 'is compressed (xz)', command: (name) => `xzcat ${name} > log.txt` },
  zip: { is: 'is a ZIP archive', command: (name) => `unzip -p ${name} > log.txt` },
  'utf-16': { is: 'is UTF-16 text, which Windows PowerShell writes', command: (name) => `iconv -f UTF-16 -t UTF-8 ${name} > log.txt` },
}
/** For a shell; a name may hold anything. */
const quoted = (name: string): string => (/^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`)

function Command({ text }: { readonly text: string }) {
  return (
    <span class="command">
      <code>{text}</code>
      <CopyButton text={text} label="copy" of={text} />
    </span>
  )
}

function Unpack({ kind, name }: { readonly kind: NotText; readonly name: string }) {
  const { is, command } = NOT_TEXT[kind]
  return (
    <div class="notice">
      <h2>This file is not plain text</h2>
      <p>It {is}, so it cannot be read. Convert it to plain text first:</p>
      <Command text={command(quoted(name))} />
    </div>
  )
}

export function NothingFound({ notText, name }: { readonly notText: NotText | undefined; readonly name: string }) {
  if (notText !== undefined) return <Unpack kind={notText} name={name} />
  return (
    <div class="notice">
      <h2>No known fault in this log</h2>
      <p>It may still have failed: no line of it matches a fault that Warpwatch knows. Try:</p>
      <ul class="tried">
        <li>
          More of the log. The cause is often hundreds of lines above the last traceback, or in the log of another rank.
          <Command text="docker logs --timestamps CONTAINER > log.txt 2>&1" />
        </li>
        <li>
          The kernel log of the same time. A card that failed (Xid) or a process killed by the OOM killer appears only there.
          <Command text="sudo dmesg -T > kernel.txt" />
        </li>
        <li>
          Incidents that the agent saw: <a href={hrefOf('incidents')}>Incidents</a>.
        </li>
        <li>
          Whether driver, toolkit and containers fit together: <a href={hrefOf('doctor')}>Doctor</a>.
        </li>
      </ul>
    </div>
  )
}
