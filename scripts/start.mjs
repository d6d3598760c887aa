// `npm start` and `npm run warpwatch`: makes sure that packages and build are there, then becomes the agent's parent.
import { join } from 'node:path'
import { ensureBuild, ensurePackages, nodeBinary, root } from './ensure.mjs'
import { foreground } from './foreground.mjs'
import { nodeFlags } from './node-flags.mjs'
import { refuseSwallowedFlags } from './swallowed-flags.mjs'

refuseSwallowedFlags()
await ensurePackages()
await ensureBuild()
// A relative path on the command line means the caller's folder, not the repository's.
const cwd = process.env.INIT_CWD ?? process.cwd()
const args = process.argv.slice(2)
foreground(nodeBinary(), [...nodeFlags(args), join(root, 'dist/main.js'), ...args], { cwd, passInterrupt: true })
