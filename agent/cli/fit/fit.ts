// `warpwatch fit`: does a model fit this host's GPUs, or cards by name, and what would make it fit.
import { cardsNamed, usualCards } from '../../fit/cards.ts'
import { ModelError, modelOf, parseParameters, type FitModel } from '../../fit/model.ts'
import { fitReport } from '../../fit/report.ts'
import { parseSettings, SETTINGS } from '../../fit/settings.ts'
import type { FitSettings, GpuRoom } from '../../model/fit.ts'
import { callAgent } from '../change.ts'
import { UsageError, type Arguments, type Command, type FlagSpec, type Io } from '../command.ts'
import { configBeside, nameOf, readConfigFile, readWeights } from './files.ts'
import { isLoaded, problemLines, settingsFor } from '../config/settings.ts'

const SETTING_FLAGS: Readonly<Record<string, FlagSpec>> = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, { value, help }]) => [name, { kind: 'value', value, help }]),
)

const text = ({ flags }: Arguments, name: string): string | undefined => {
  const value = flags.get(name)
  return typeof value === 'string' ? value : undefined
}

function wanted(args: Arguments): { readonly model: FitModel; readonly settings: FitSettings } {
  const [params, configFile, weightsPath] = [text(args, 'params'), text(args, 'config'), text(args, 'weights')]
  try {
    const size = params === undefined ? undefined : parseParameters(params)
    const weights = weightsPath === undefined ? undefined : readWeights(weightsPath)
    const beside = configFile ?? (weightsPath === undefined ? undefined : configBeside(weightsPath))
    const config = beside === undefined ? undefined : readConfigFile(beside)
    if (size === undefined && weights === undefined && config === undefined)
      throw new UsageError('fit: the model is missing: give --params such as 8b, --config config.json or --weights model.safetensors')
    const model = modelOf({
      name: params ?? nameOf(weightsPath ?? configFile ?? ''),
      ...(size === undefined ? {} : { params: size }),
      ...(config === undefined ? {} : { config }),
      ...(weights === undefined ? {} : { weights }),
    })
    const parsed = parseSettings(Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, text(args, name)])), config?.dtype ?? model.stored?.dtype)
    if ('problem' in parsed) throw new UsageError(`fit: --${parsed.problem}`)
    return { model, settings: parsed.settings }
  } catch (error) {
    if (error instanceof ModelError) throw new UsageError(`fit: ${error.message}`, { cause: error })
    throw error
  }
}

const isRoom = (value: unknown): value is GpuRoom =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  typeof value.name === 'string' &&
  'capacity_bytes' in value &&
  typeof value.capacity_bytes === 'number'

/** Of the running agent; undefined where none runs, and then cards by name are told instead. */
async function hostRooms(args: Arguments, io: Io): Promise<readonly GpuRoom[] | undefined> {
  // --config is the model's here; the agent's own is found where it always is.
  const flags = new Map([...args.flags].filter(([name]) => name !== 'config'))
  const loaded = await settingsFor({ ...args, flags }, io)
  if (!isLoaded(loaded)) throw new UsageError(`fit: ${problemLines(loaded).trimEnd().split('\n')[0] ?? ''}`)
  try {
    const found = await callAgent(loaded.config, 'fit', 'GET', '/api/v1/fit/gpus')
    if (!Array.isArray(found) || !found.every(isRoom))
      throw new UsageError('fit: the agent did not answer with a list of GPUs; is it of another version? See: warpwatch version')
    return found.length === 0 ? undefined : found
  } catch (error) {
    if (error instanceof UsageError && error.message.endsWith('no agent runs') && !args.flags.has('listen')) return undefined
    throw error
  }
}

export const fit: Command = {
  name: 'fit',
  summary: "says whether a model fits this host's GPUs, now and at the peak of the last days, and what would make it fit",
  positionals: [],
  flags: {
    params: { kind: 'value', value: 'SIZE', help: 'number of parameters: 8b, 350m' },
    config: { kind: 'value', value: 'FILE', help: 'config.json of a Hugging Face model' },
    weights: { kind: 'value', value: 'PATH', help: 'its weights (.safetensors, index or folder): only headers are read' },
    gpu: { kind: 'value', value: 'NAMES', help: 'cards by name instead of those of this host: T4, "A100 80GB", H200; or a memory such as 24GiB' },
    ...SETTING_FLAGS,
    listen: { kind: 'value', value: 'ADDRESS:PORT', help: 'where the agent listens (default: 127.0.0.1:9839)' },
    json: { kind: 'switch', help: 'print JSON' },
  },
  async run(args, io) {
    const { model, settings } = wanted(args)
    const named = text(args, 'gpu')
    const cards = named === undefined ? ((await hostRooms(args, io)) ?? usualCards()) : cardsNamed(named)
    if ('problem' in cards) throw new UsageError(`fit: --${cards.problem}`)
    const onHost = cards.some(({ uuid }) => uuid !== undefined)
    if (named === undefined && !onHost) io.err('warpwatch: fit: no agent with GPUs runs here, so these are cards that many have; --gpu names others\n')
    const report = fitReport(model, settings, cards)
    if (args.flags.has('json')) io.out(`${JSON.stringify(report)}\n`)
    else io.out((await import('./answer.ts')).fitText(report))
    // A host must have as many as are needed; cards that are only named are each asked for themselves.
    return report.fits.now >= (onHost ? report.fits.needed : 1) ? 0 : 1
  },
}
