// The dashboard's entry: styles, the connection, the page.
import { render } from 'preact'
import 'uplot/dist/uPlot.min.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/masthead.css'
import './styles/gpu.css'
import './styles/table.css'
import './styles/notice.css'
import { Page } from './components/page.tsx'
import { start } from './state/connection.ts'

const host = document.getElementById('app')
if (host === null) throw new Error('index.html: expected an element with the id app')
render(<Page />, host)
start()
