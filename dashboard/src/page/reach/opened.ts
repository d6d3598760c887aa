// Which dialog is open: the palette, the list of shortcuts, the settings. They are files of their own, fetched when first opened or when the page is idle.
import { signal } from '@preact/signals'

export type DialogName = 'palette' | 'shortcuts' | 'settings'
export const openDialog = signal<DialogName | undefined>(undefined)
