// For a view whose charts have readings of their own: the buttons and gestures of charts change the window in its address.
import { effect } from '@preact/signals'
import { liveSeconds, windowed } from './charted.ts'

/** `seconds`: how long its charts are. Gives the end of it. */
export function takeWindows(seconds: () => number): () => void {
  windowed.value = true
  const end = effect(() => void (liveSeconds.value = seconds()))
  return () => {
    end()
    liveSeconds.value = undefined
    windowed.value = false
  }
}
