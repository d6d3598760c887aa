// What the parsers say of one GPU, whatever the format, and how it is read from a tree.
import type { Found, TreeNode } from './tree.ts'
import { child, textAt } from './tree.ts'
import type { FieldId } from './field-id.ts'
import type { Field, TextId } from './fields.ts'
import { FIELDS, MIG_FIELDS, TEXT_IDS, TEXTS } from './fields.ts'
import { isMissing, missingFrom, parseValue } from './value.ts'
import type { Missing } from './value.ts'

export type ParsedProcess = {
  readonly pid: number
  /** C compute, G graphics, M MPS; several joined by `+`. */
  readonly type: string
  readonly name?: string
  /** null: the driver does not report it. */
  readonly bytes: number | null
  readonly gi?: number
  readonly ci?: number
}

export type Values = { readonly values: ReadonlyMap<FieldId, number>; readonly missing: ReadonlyMap<FieldId, Missing> }
export type ParsedMig = Values & { readonly gi: number; readonly ci: number; readonly index?: number; readonly uuid?: string; readonly profile?: string }
export type ParsedGpu = Values & {
  readonly index?: number
  readonly uuid?: string
  readonly pciBusId?: string
  readonly name?: string
  readonly serial?: string
  readonly minor?: string
  readonly vbios?: string
  /** WDDM: under Windows or WSL2, where the driver does not report what a process holds. */
  readonly driverModel?: string
  readonly migs: readonly ParsedMig[]
  /** Absent when the format has no process list or the driver refused it (`processesMissing`). */
  readonly processes?: readonly ParsedProcess[]
  readonly processesMissing?: Missing
}

/** nvidia-smi prints nothing at all of what came after it. */
const NOT_PRINTED: Missing = { reason: 'not_supported', text: '' }

export const present = (text: string | undefined): string | undefined => (text === undefined || missingFrom(text) !== undefined ? undefined : text)

/** A whole number such as a pid or an instance id. */
export function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,10}$/.test(text.trim()) ? Number(text.trim()) : undefined
}

/** Adds the parts of a place; parts that the board does not count are left out as long as one is a number. */
function sumOf(places: readonly (Found | undefined)[], field: Field): number | Missing | undefined {
  let sum: number | undefined
  let missing: Missing | undefined
  for (const found of places) {
    if (found === undefined) return undefined
    const value = found.inherited ? missingFrom(found.text) : parseValue(found.text, field.dimension)
    if (value === undefined) return undefined
    if (!isMissing(value)) sum = (sum ?? 0) + value
    else if (missing === undefined || value.reason !== 'not_supported') missing = value
  }
  return missing !== undefined && (sum === undefined || missing.reason !== 'not_supported') ? missing : sum
}

/** The first place with a number; else why there is none; undefined when none of the places is printed. */
export function readField(field: Field, places: readonly string[], lookup: (place: string) => Found | undefined): number | Missing | undefined {
  let missing: Missing | undefined
  for (const place of places) {
    const value = sumOf(place.split(' + ').map(lookup), field)
    if (value === undefined) continue
    if (!isMissing(value)) return value
    missing ??= value
  }
  return missing
}

export function readValues(fields: readonly Field[], read: (field: Field) => number | Missing | undefined): Values {
  const values = new Map<FieldId, number>()
  const missing = new Map<FieldId, Missing>()
  for (const field of fields) {
    const value = read(field)
    if (value === undefined) continue
    if (isMissing(value)) missing.set(field.id, value)
    else values.set(field.id, value)
  }
  return { values, missing }
}

export type TreeForm = 'xml' | 'text'

function treeValues(node: TreeNode, form: TreeForm, fields: readonly Field[]): Values {
  return readValues(fields, (field) => {
    const value = readField(field, field[form], (place) => textAt(node, place))
    // `-q` may have been asked for one section only (-d); the XML of `-q -x` is always whole.
    return value === undefined && form === 'xml' ? NOT_PRINTED : value
  })
}

const PROCESS = {
  xml: { gi: 'gpu_instance_id', ci: 'compute_instance_id', pid: 'pid', type: 'type', name: 'process_name', memory: 'used_memory' },
  text: { gi: 'gpu instance id', ci: 'compute instance id', pid: 'process id', type: 'type', name: 'name', memory: 'used gpu memory' },
} as const

function processFrom(lookup: (name: string) => string | undefined, form: TreeForm): ParsedProcess | undefined {
  const names = PROCESS[form]
  const pid = wholeNumber(lookup(names.pid))
  if (pid === undefined) return undefined
  const [gi, ci, name] = [wholeNumber(lookup(names.gi)), wholeNumber(lookup(names.ci)), present(lookup(names.name))]
  const bytes = parseValue(lookup(names.memory) ?? '', 'bytes')
  return {
    pid,
    type: present(lookup(names.type)) ?? 'C',
    ...(name === undefined ? {} : { name }),
    bytes: isMissing(bytes) ? null : bytes,
    ...(gi === undefined || ci === undefined ? {} : { gi, ci }),
  }
}

function processesOf(node: TreeNode, form: TreeForm): Pick<ParsedGpu, 'processes' | 'processesMissing'> {
  const list = child(node, 'processes')
  if (list === undefined) return {}
  const missing = missingFrom(list.text)
  if (list.children.length === 0 && list.text !== '' && missing !== undefined && list.text !== 'None') return { processesMissing: missing }
  const found: ParsedProcess[] = []
  if (form === 'xml') {
    for (const entry of list.children) {
      if (entry.name !== 'process_info') continue
      const process = processFrom((name) => child(entry, name)?.text, form)
      if (process !== undefined) found.push(process)
    }
  } else {
    // One level: GPU instance id, compute instance id, process id with the details under it, and so on for the next.
    let gi: string | undefined
    let ci: string | undefined
    for (const entry of list.children) {
      if (entry.name === PROCESS.text.gi) gi = entry.text
      else if (entry.name === PROCESS.text.ci) ci = entry.text
      else if (entry.name === PROCESS.text.pid) {
        const own: Readonly<Record<string, string | undefined>> = { [PROCESS.text.gi]: gi, [PROCESS.text.ci]: ci, [PROCESS.text.pid]: entry.text }
        const process = processFrom((name) => own[name] ?? child(entry, name)?.text, form)
        if (process !== undefined) found.push(process)
        gi = ci = undefined
      }
    }
  }
  return { processes: found }
}

function migsOf(node: TreeNode, form: TreeForm): readonly ParsedMig[] {
  const devices =
    form === 'xml'
      ? (child(node, 'mig_devices')?.children.filter((entry) => entry.name === 'mig_device') ?? [])
      : node.children.filter((entry) => entry.name === 'mig device')
  const names = PROCESS[form]
  return devices.flatMap((device) => {
    const [gi, ci, index] = [names.gi, names.ci, 'index'].map((name) => wholeNumber(child(device, name)?.text))
    if (gi === undefined || ci === undefined) return []
    return [{ gi, ci, ...(index === undefined ? {} : { index }), ...treeValues(device, form, MIG_FIELDS) }]
  })
}

/** Reads a `<gpu>` element or a `GPU 00000000:01:00.0` group. */
export function gpuFromTree(node: TreeNode, form: TreeForm, index: number | undefined): ParsedGpu {
  const texts: { -readonly [Key in TextId]?: string } = {}
  for (const id of TEXT_IDS) {
    const found = textAt(node, TEXTS[id][form])
    const text = found === undefined || found.inherited ? undefined : present(found.text)
    if (text !== undefined) texts[id] = text
  }
  return {
    ...(index === undefined ? {} : { index }),
    ...(node.id === undefined ? {} : { pciBusId: node.id }),
    ...texts,
    ...treeValues(node, form, FIELDS),
    migs: migsOf(node, form),
    ...processesOf(node, form),
  }
}
