// Takes a log from wherever it comes: dropped on the page, pasted outside of the field, chosen as a file.
import { useEffect, useState } from 'preact/hooks'
import { explainFile, explainText } from './state.ts'

const inField = (target: EventTarget | null): boolean => target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement

/** Whether something is being dragged over the page. */
export function useLogFromAnywhere(): boolean {
  const [over, setOver] = useState(false)
  useEffect(() => {
    const drag = (event: DragEvent): void => {
      event.preventDefault() // else the browser would open the file
      setOver(event.type === 'dragover')
    }
    const drop = (event: DragEvent): void => {
      drag(event)
      const file = event.dataTransfer?.files[0]
      const text = event.dataTransfer?.getData('text') ?? ''
      if (file !== undefined) explainFile(file)
      else if (text !== '') explainText(text)
    }
    const paste = (event: ClipboardEvent): void => {
      // What is added to a text is not yet a log; into the empty field, or beside it, it is.
      if (inField(event.target) && !(event.target instanceof HTMLTextAreaElement && event.target.value === '')) return
      const file = event.clipboardData?.files[0]
      const text = event.clipboardData?.getData('text') ?? ''
      if (file === undefined && text.trim() === '') return
      event.preventDefault()
      if (text.trim() !== '') explainText(text)
      else if (file !== undefined) explainFile(file)
    }
    document.addEventListener('dragover', drag)
    document.addEventListener('dragleave', drag)
    document.addEventListener('drop', drop)
    document.addEventListener('paste', paste)
    return () => {
      document.removeEventListener('dragover', drag)
      document.removeEventListener('dragleave', drag)
      document.removeEventListener('drop', drop)
      document.removeEventListener('paste', paste)
    }
  }, [])
  return over
}
