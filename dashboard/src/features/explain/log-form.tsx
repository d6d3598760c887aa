// The empty page: a field for a log, a file, or an example.
import { useEffect, useRef } from 'preact/hooks'
import { draft, explainFile, explainText, prepare } from './state.ts'

/** A log to see the page at work with, written for this: memory that ran out because another process holds the card, and what followed. */
const EXAMPLE = `2026-03-02 09:14:07 INFO  step 1840 | loss 2.113 | 11.9k tokens/s | 61.2 GiB
2026-03-02 09:14:19 INFO  step 1850 | loss 2.108 | 11.9k tokens/s | 61.2 GiB
2026-03-02 09:14:31 INFO  step 1860 | loss 2.117 | 11.8k tokens/s | 61.3 GiB
2026-03-02 09:14:33 INFO  evaluating on 512 samples, batch 32
[rank0]: Traceback (most recent call last):
[rank0]:   File "/workspace/train.py", line 212, in <module>
[rank0]:     main()
[rank0]:   File "/workspace/train.py", line 188, in main
[rank0]:     metrics = evaluate(model, loader)
[rank0]:   File "/workspace/evaluate.py", line 41, in evaluate
[rank0]:     logits = model(batch)
[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 2.31 GiB is free. Process 48113 has 13.80 GiB memory in use. Including non-PyTorch memory, this process has 62.98 GiB memory in use. Of the allocated memory 61.40 GiB is allocated by PyTorch, and 702.00 MiB is reserved by PyTorch but unallocated.
[rank1]:[E302 09:24:35.120 ProcessGroupNCCL.cpp:632] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9121, OpType=ALLREDUCE, NumelIn=524288, NumelOut=524288, Timeout(ms)=600000) ran for 600013 milliseconds before timing out.
[rank1]:[E302 09:24:35.241 ProcessGroupNCCL.cpp:694] [Rank 1] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.
torchrun: worker 0 exited with code 1
`

export function LogForm() {
  const file = useRef<HTMLInputElement>(null)
  useEffect(prepare, [])
  return (
    <form
      class="log-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (draft.peek().trim() !== '') explainText(draft.peek())
      }}
    >
      <header>
        <h2 id="explain-title">What went wrong?</h2>
        <p>
          Paste the log of a job that failed, or drop its file here. It is read by your browser: nothing of it leaves this page, and the answer is that of{' '}
          <code>warpwatch explain</code>.
        </p>
      </header>
      <textarea
        name="log"
        aria-labelledby="explain-title"
        placeholder="Paste it here …"
        spellcheck={false}
        value={draft.value}
        onInput={(event) => (draft.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit()
        }}
      />
      <div class="buttons">
        <button type="submit" class="strong" disabled={draft.value.trim() === ''}>
          Explain
        </button>
        <button type="button" onClick={() => file.current?.click()}>
          Choose a file …
        </button>
        <input
          ref={file}
          type="file"
          name="file"
          hidden
          onChange={(event) => {
            const chosen = event.currentTarget.files?.[0]
            if (chosen !== undefined) explainFile(chosen)
          }}
        />
        <button type="button" onClick={() => explainText(EXAMPLE, 'example')}>
          Show an example
        </button>
        <span class="hint">
          <span class="keys">Ctrl+Enter explains. </span>Any size: a file is read piece by piece.
        </span>
      </div>
    </form>
  )
}
