// `warpwatch doctor`: looks at driver, toolkit, engines, containers and compose files, and says how to mend what is wrong. Changes nothing.
import type { CheckDefinition } from '../../doctor/definition.ts'
import { messageOf } from '../../text/error.ts'
import { UsageError, type Arguments, type Command, type Io } from '../command.ts'
import { plain } from '../plain.ts'
import { CONFIG_FLAG, isLoaded, problemLines, settingsFor } from '../config/settings.ts'

/** For writing out what was said. */
const LINGER_MS = 1_000

const text = ({ flags }: Arguments, name: string): string | undefined => {
  const value = flags.get(name)
  return typeof value === 'string' ? value : undefined
}

async function chosen(args: Arguments): Promise<readonly CheckDefinition[]> {
  const [registry, { selectChecks }] = await Promise.all([import('../../doctor/checks/index.ts'), import('../../doctor/select.ts')])
  const selection = selectChecks(Object.values<CheckDefinition>(registry), text(args, 'only'), text(args, 'skip'))
  if ('problem' in selection) throw new UsageError(`doctor: --${args.flags.has('only') ? 'only' : 'skip'}: ${selection.problem}`)
  // Who names no compose file need not read that none was looked at.
  const asked = args.lists?.has('compose') === true || args.flags.has('only') || args.flags.has('list')
  return selection.checks.filter(({ group }) => asked || group !== 'compose')
}

function list(checks: readonly CheckDefinition[], json: boolean): string {
  if (json) return `${JSON.stringify(checks.map(({ id, group, title, covers }) => ({ id, group, title, covers })))}\n`
  const width = Math.max(...checks.map(({ id }) => id.length))
  return checks.map(({ id, group, title }) => `${group.padEnd(9)}  ${id.padEnd(width)}  checks that ${title}\n`).join('')
}

export const doctor: Command = {
  name: 'doctor',
  summary: 'checks driver, toolkit, engines, containers and compose files, and prints the commands that fix what is wrong',
  positionals: [],
  flags: {
    ...CONFIG_FLAG,
    container: { kind: 'value', value: 'NAME', help: 'check this container only (default: every container that requests a GPU)' },
    compose: { kind: 'values', value: 'FILE…', help: 'read these compose files too' },
    only: { kind: 'value', value: 'ID,…', help: 'only these checks or groups' },
    skip: { kind: 'value', value: 'ID,…', help: 'all but these' },
    list: { kind: 'switch', help: 'list the checks' },
    verbose: { kind: 'switch', short: 'v', help: 'also print what passed, and why a check was skipped' },
    bundle: { kind: 'value', value: 'FILE', help: 'write a tar.gz for support, without secrets, names and addresses' },
    json: { kind: 'switch', help: 'print JSON' },
  },
  async run(args, io: Io) {
    const checks = await chosen(args)
    if (args.flags.has('list')) {
      io.out(list(checks, args.flags.has('json')))
      return 0
    }
    const loaded = await settingsFor(args, io)
    if (!isLoaded(loaded)) {
      io.err(problemLines(loaded))
      return 2
    }
    const [{ lookAround }, { runChecks }, { reportText }] = await Promise.all([
      import('../../doctor/surroundings.ts'),
      import('../../doctor/runner.ts'),
      import('../../doctor/report-text.ts'),
    ])
    const container = text(args, 'container')
    const { config } = loaded
    const around = lookAround({
      config,
      env: io.env,
      cwd: io.cwd,
      composeFiles: args.lists?.get('compose') ?? [],
      ...(container === undefined ? {} : { container }),
    })
    try {
      if (container !== undefined) {
        // Whoever names a container that is not there has made a mistake; a report full of skipped checks would hide it.
        await around.containers().catch((error: unknown) => {
          throw new UsageError(`doctor: --container: ${messageOf(error)}`, { cause: error })
        })
      }
      const report = await runChecks({ checks, around, host: config.host_name })
      io.out(args.flags.has('json') ? `${JSON.stringify(report)}\n` : plain(reportText(report, { verbose: args.flags.has('verbose') })))
      const bundle = text(args, 'bundle')
      if (bundle !== undefined) {
        const { writeBundle } = await import('./bundle.ts')
        io.err(await writeBundle(bundle, { report, loaded, around, io }))
      }
      return report.counts.fail > 0 ? 1 : 0
    } finally {
      around.close()
      // A file that hangs keeps a thread, and with it the process: nobody waits for that. Unless it ends by itself before.
      setTimeout(() => process.exit(), LINGER_MS).unref()
    }
  },
}
