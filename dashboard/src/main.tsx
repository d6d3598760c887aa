// The dashboard's entry: the page and its connection; index.html brings the styles.
import { render } from 'preact'
import { Page } from './components/page.tsx'
import { start } from './state/connection.ts'

const host = document.getElementById('app')
if (host === null) throw new Error('index.html: expected an element with the id app')
render(<Page />, host)
start()
