// A dialog over the page: the browser keeps the focus in it, closes it on Escape, and gives the focus back to where it was.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { openDialog } from './opened.ts'

type Props = { readonly title: string; readonly kind: string; readonly children: ComponentChildren }

export function Dialog({ title, kind, children }: Props) {
  const own = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const dialog = own.current
    const before = document.activeElement
    dialog?.showModal()
    return () => {
      dialog?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true })
    }
  }, [])
  return (
    <dialog
      ref={own}
      class={`dialog ${kind}`}
      aria-label={title}
      onClose={() => own.current?.isConnected === true && (openDialog.value = undefined)}
      onClick={(event) => event.target === own.current && (openDialog.value = undefined)}
    >
      <div class="dialog-body">{children}</div>
    </dialog>
  )
}
