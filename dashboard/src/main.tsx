// The dashboard's entry: the connection, whose answer the page need not wait for, then the page; index.html brings the styles.
import { render } from 'preact'
import { Page } from './page/page.tsx'
import { start } from './parts/connection/connection.ts'
import { untilFetched } from './parts/later.tsx'

const host = document.getElementById('app')
if (host === null) throw new Error('index.html: expected an element with the id app')
start()
render(<Page />, host)
// Title, icon and notifications can wait for the figures.
void untilFetched(() => import('./parts/outside/outside.ts'))
