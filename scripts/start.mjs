// `npm start` and `npm run warpwatch`: makes sure that packages and build are there, then becomes the agent's parent.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { ensureBuild, ensurePackages, nodeBinary, root } from './ensure.mjs'

ensurePackages()
ensureBuild()
// A relative path on the command line means the caller's folder, not the repository's.
const cwd = process.env.INIT_CWD ?? process.cwd()
const child = spawn(nodeBinary(), [join(root, 'dist/main.js'), ...process.argv.slice(2)], { cwd, stdio: 'inherit' })
// A terminal's Ctrl-C reaches the whole group; what is sent to this process alone is passed on.
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
process.on('SIGINT', () => {})
child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)))
