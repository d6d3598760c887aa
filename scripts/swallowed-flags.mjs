// `npm start --simulate` keeps the flag for npm itself and would start the agent without it: found here, said, refused.

/** Flags that are ours alone (`--json` is npm's too); npm hands what it took as npm_config_NAME. */
const FLAGS = ['simulate', 'listen', 'data-dir', 'record', 'config', 'check']

export function refuseSwallowedFlags(env = process.env) {
  const swallowed = FLAGS.filter((flag) => env[`npm_config_${flag.replaceAll('-', '_')}`] !== undefined)
  if (swallowed.length === 0) return
  const script = env.npm_lifecycle_event ?? 'start'
  const command = script === 'start' ? 'npm start' : `npm run -s ${script}`
  const flags = swallowed.map((flag) => {
    const value = env[`npm_config_${flag.replaceAll('-', '_')}`]
    return value === '' || value === 'true' ? `--${flag}` : `--${flag}=${value}`
  })
  process.stderr.write(`warpwatch: npm took ${flags.join(' ')} for a flag of its own; write -- before what is for Warpwatch, as in ${command} -- ${flags[0]}\n`)
  process.exit(2)
}
