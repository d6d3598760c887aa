// Copies text, also where the page came over plain HTTP from another host and the browser offers no clipboard.
import { useEffect, useState } from 'preact/hooks'

function copyOldWay(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.readOnly = true
  area.style.position = 'fixed'
  area.style.opacity = '0'
  document.body.append(area)
  area.select()
  try {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- navigator.clipboard exists in secure contexts only
    return document.execCommand('copy')
  } finally {
    area.remove()
  }
}

async function copyText(text: string): Promise<boolean> {
  try {
    // Undefined outside of secure contexts, whatever the types say.
    const clipboard: Clipboard | undefined = navigator.clipboard
    if (clipboard !== undefined) {
      await clipboard.writeText(text)
      return true
    }
  } catch {
    // no permission: the old way asks for none
  }
  return copyOldWay(text)
}

type Props = {
  readonly text: string | (() => Promise<string>)
  readonly label: string
  /** What is copied, for those who do not see what the button is beside. */
  readonly of?: string
}
const SAID_FOR_MS = 2_000

export function CopyButton({ text, label, of }: Props) {
  const [said, say] = useState<'copied' | 'not copied' | undefined>(undefined)
  useEffect(() => {
    if (said === undefined) return undefined
    const timer = setTimeout(() => say(undefined), SAID_FOR_MS)
    return () => clearTimeout(timer)
  }, [said])
  const copy = async (): Promise<void> => {
    try {
      const done = await copyText(typeof text === 'string' ? text : await text())
      say(done ? 'copied' : 'not copied')
    } catch (error) {
      console.warn(error)
      say('not copied')
    }
  }
  return (
    <button type="button" class="copy" data-said={said} aria-label={of === undefined ? undefined : `${said ?? label} ${of}`} onClick={() => void copy()}>
      <span aria-live="polite">{said ?? label}</span>
    </button>
  )
}
