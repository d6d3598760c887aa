// Where a snapshot file is dropped or picked; the whole view takes a file that is dropped.
import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { closeFile, file, openFile } from './state.ts'
import { memory } from '../../../text/format.ts'
import { CopyButton } from '../../../parts/copy-button.tsx'

export function FilePicker({ label }: { readonly label: string }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        class="spoken"
        tabIndex={-1}
        aria-label="memory snapshot file"
        accept=".pickle,.pkl,.json,.bin"
        onChange={(event) => {
          const [picked] = event.currentTarget.files ?? []
          if (picked !== undefined) openFile(picked)
          event.currentTarget.value = ''
        }}
      />
      <button type="button" class="strong" onClick={() => input.current?.click()}>
        {label}
      </button>
    </>
  )
}

const hasFile = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false

export function DropTarget({ children }: { readonly children: ComponentChildren }) {
  // Entering a child comes before leaving its parent: counted, so that the frame does not flicker.
  const [over, setOver] = useState(0)
  return (
    <div
      class="drop-target"
      data-over={over > 0}
      onDragEnter={(event) => hasFile(event) && setOver((count) => count + 1)}
      onDragLeave={(event) => hasFile(event) && setOver((count) => Math.max(0, count - 1))}
      onDragOver={(event) => hasFile(event) && event.preventDefault()}
      onDrop={(event) => {
        if (!hasFile(event)) return
        event.preventDefault()
        setOver(0)
        const [dropped] = event.dataTransfer?.files ?? []
        if (dropped !== undefined) openFile(dropped)
      }}
    >
      {children}
    </div>
  )
}

const DUMP = `torch.cuda.memory._record_memory_history(max_entries=100000)  # at the start: says who allocates
torch.cuda.memory._dump_snapshot("snapshot.pickle")`

/** What is there while there is no snapshot to show. */
export function NoFile() {
  const now = file.value
  if (now.state === 'there') return null
  if (now.state === 'reading')
    return (
      <div class="notice" role="status">
        <h2>Reading {now.name}</h2>
        <p>{memory(now.bytes)}. It is read in this browser; nothing of it is sent anywhere.</p>
        <p>
          <button type="button" class="word" onClick={closeFile}>
            cancel
          </button>
        </p>
      </div>
    )
  return (
    <div class="notice drop-notice">
      {now.state === 'refused' && (
        <p class="bad" role="alert">
          <b>{now.name}</b> could not be read: {now.why}.
        </p>
      )}
      <h2>Drop a memory snapshot of PyTorch here</h2>
      <p>
        It shows each segment and block to scale, who allocated what, and what would still fit. The file is read in this browser; nothing of it is sent
        anywhere.
      </p>
      <p>
        <FilePicker label="Choose a file …" />
      </p>
      <p>A program writes one with:</p>
      <div class="command lines">
        <pre>
          <code>{DUMP}</code>
        </pre>
        <CopyButton text={DUMP} label="copy" of="the two lines" />
      </div>
    </div>
  )
}
