// The manual pages warpwatch(1) and warpwatch-COMMAND(1), made of what `warpwatch help --json` lists.

/** In roff a dot or a quote at the begin of a line is a request, and a bare hyphen may become a dash. */
const escaped = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&')
const head = (title, date) => `.TH ${title.toUpperCase()} 1 ${date.toISOString().slice(0, 10)} Warpwatch "User Commands"`
const item = (term, text) => `.TP\n.B ${escaped(term)}\n${escaped(text)}`
const flagItems = (flags) => flags.map(({ name, value, help }) => item(value === undefined ? name : `${name} ${value}`, help))
const usageOf = ({ name, arguments: args }) => ['warpwatch', name, ...args.map((one) => (one.required ? one.name : `[${one.name}]`)), '[flags]'].join(' ')
const EXIT = ['.SH EXIT STATUS', item('0', 'done'), item('1', 'the check found something wrong'), item('2', 'wrong usage or unreadable input')]

const overview = ({ default: byDefault, commands }, date) => [
  head('warpwatch', date),
  '.SH NAME',
  'warpwatch \\- flight recorder for GPU hosts',
  '.SH SYNOPSIS',
  '.B warpwatch [command] [flags]',
  '.SH DESCRIPTION',
  'Says who holds which GPU, what failed, why, and what to change. Without a command it is the agent.',
  '.SH COMMANDS',
  ...commands.map(({ name, summary }) => item(`${name}`, `${summary} (see warpwatch-${name}(1))`)),
  `.SH FLAGS OF ${byDefault.toUpperCase()}, THE DEFAULT`,
  ...flagItems(commands.find(({ name }) => name === byDefault).flags),
  ...EXIT,
  '.SH FILES',
  ...[
    ['/etc/warpwatch/warpwatch.yaml', 'configuration; /usr/share/doc/warpwatch/warpwatch.example.yaml names every key'],
    ['/etc/default/warpwatch', 'environment of the service, such as WARPWATCH_HTTP__TOKEN'],
    ['/var/lib/warpwatch', 'history and incidents'],
  ].map(([file, text]) => `.TP\n.I ${escaped(file)}\n${escaped(text)}`),
  '.SH SEE ALSO',
  '.I /usr/share/doc/warpwatch',
]
const ofCommand = (command, date) => [
  head(`warpwatch-${command.name}`, date),
  '.SH NAME',
  `warpwatch\\-${command.name} \\- ${escaped(command.summary)}`,
  '.SH SYNOPSIS',
  `.B ${escaped(usageOf(command))}`,
  '.SH OPTIONS',
  ...flagItems(command.flags),
  ...EXIT,
  '.SH SEE ALSO',
  '.BR warpwatch (1)',
]

/** The text of each page by the name of its file. */
export function manualPages(help, date) {
  const pages = [['warpwatch.1', overview(help, date)], ...help.commands.map((command) => [`warpwatch-${command.name}.1`, ofCommand(command, date)])]
  return new Map(pages.map(([file, lines]) => [file, `${lines.join('\n')}\n`]))
}
