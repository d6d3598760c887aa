// Runs a script of the repository under its own Node, installing packages first where they are missing: run.mjs SCRIPT [ARG ...]
import { spawnSync } from 'node:child_process'
import { ensurePackages, nodeBinary, root } from './ensure.mjs'

ensurePackages()
const run = spawnSync(nodeBinary(), process.argv.slice(2), { cwd: root, stdio: 'inherit' })
process.exit(run.status ?? 1)
