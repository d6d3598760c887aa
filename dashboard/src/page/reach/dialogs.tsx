// The dialog that is open. Its styles come with it.
import { Dialog } from './dialog.tsx'
import { type DialogName, openDialog } from './opened.ts'
import { Palette } from './palette.tsx'
import { SettingsForm } from './settings-form.tsx'
import { Shortcuts } from './shortcuts.tsx'
import css from './style.css?inline'

const sheet = new CSSStyleSheet()
sheet.replaceSync(css)
document.adoptedStyleSheets.push(sheet)

const TITLES: Readonly<Record<DialogName, string>> = { palette: 'Command palette', shortcuts: 'Keyboard shortcuts', settings: 'Settings' }

export function Dialogs() {
  const name = openDialog.value
  if (name === undefined) return null
  return (
    <Dialog key={name} kind={name} title={TITLES[name]}>
      {name === 'palette' && <Palette />}
      {name === 'shortcuts' && <Shortcuts />}
      {name === 'settings' && <SettingsForm />}
      {name !== 'palette' && (
        <button type="button" class="dialog-close" onClick={() => (openDialog.value = undefined)}>
          Close
        </button>
      )}
    </Dialog>
  )
}
