// From the judged configuration to notifiers that can be asked; loads only the types that are used.
import type { NotifierConfig } from '../agent/model/alert-settings.ts'
import { commonOptions, type CommonOptions } from './notifiers/common.ts'
import type { Notifier, NotifierDefinition } from './notifiers/definition.ts'
import * as registry from './notifiers/index.ts'

export type BuiltNotifier = { readonly name: string; readonly type: string; readonly notifier: Notifier; readonly options: CommonOptions }

const DEFINITIONS: ReadonlyMap<string, NotifierDefinition> = new Map(
  Object.values<NotifierDefinition>(registry).map((definition): readonly [string, NotifierDefinition] => [definition.type, definition]),
)

function isCommon(options: Readonly<Record<string, unknown>>): options is CommonOptions {
  return Object.entries(commonOptions).every(([name, { schema }]) => schema.safeParse(options[name]).success)
}

export async function buildNotifier({ name, type, options }: NotifierConfig): Promise<BuiltNotifier> {
  const definition = DEFINITIONS.get(type)
  if (definition === undefined || !isCommon(options)) throw new Error(`notifier ${name}: its configuration of type ${type} was not checked`)
  await definition.load?.()
  return { name, type, notifier: definition.create(options), options }
}
