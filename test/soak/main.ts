// `npm run soak -- history|logs [MINUTES]`: runs one of the soaks for an hour, or for so many minutes.
const NAMES = ['history', 'logs']

const [name = '', ...rest] = process.argv.slice(2)
if (!NAMES.includes(name) || rest.some((text) => !/^[1-9]\d*$/.test(text)) || rest.length > 1) {
  process.stderr.write(`soak: expected one of ${NAMES.join(', ')} and the minutes (60), came '${[name, ...rest].join(' ')}'\n`)
  process.exit(2)
}
await import(`./${name}.ts`)
