// Tells the highest memory of the process that loads it, on stderr at its end. (getrusage would count what its parent held at the fork.)
const { readFileSync } = require('node:fs')
process.on('exit', () => process.stderr.write(`peak ${/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]} KiB\n`))
