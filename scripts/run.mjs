// Runs a script of the repository under its own Node, installing packages first where they are missing: run.mjs SCRIPT [ARG ...]
import { ensurePackages, nodeBinary, root } from './ensure.mjs'
import { foreground } from './foreground.mjs'

await ensurePackages()
foreground(nodeBinary(), process.argv.slice(2), { cwd: root })
