// A stand-in for an inference server in a container: its engine is another process, its pages and its log are what PAGES and LOG say, and each request is
// printed. Run as `node /app/vllm serve …`, so that its command line is one of the family's. LISTEN is HOST:PORT or a path. With CHILD, its pages, the
// engine answers too, on a port of chance that its own command line names, as the llama-server of one of Ollama's models does.
const { spawn } = require('node:child_process')
const { createServer } = require('node:http')

const { LISTEN = '127.0.0.1:8000', LOG = '', ENGINE = 'VLLM::EngineCore', CHILD } = process.env
const pages = JSON.parse(process.env.PAGES ?? '{}')
console.log(LOG)
const CHILD_PORT = '41234'
const child = { ...process.env, LISTEN: `127.0.0.1:${CHILD_PORT}`, PAGES: CHILD, LOG: '', ENGINE: '' }
if (ENGINE !== '' && CHILD === undefined) spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e9)'], { argv0: ENGINE, stdio: 'inherit' })
else if (ENGINE !== '') spawn(process.execPath, [__filename, '--port', CHILD_PORT, '-np', '2'], { argv0: ENGINE, env: child, stdio: 'inherit' })
const server = createServer((request, answer) => {
  console.log(`ASKED ${request.method} ${request.url}`)
  const page = pages[request.url]
  answer.writeHead(page === undefined ? 404 : 200)
  answer.end(page)
})
const at = LISTEN.lastIndexOf(':')
if (LISTEN.startsWith('/')) server.listen(LISTEN)
else server.listen(Number(LISTEN.slice(at + 1)), LISTEN.slice(0, at))
process.on('SIGTERM', () => process.exit(0))
