// nvmlDeviceGetFieldValues: many values in one call, each with its own code and type.
import { INVALID_ARGUMENT, NO_DATA, NOT_SUPPORTED, SUCCESS, failureOf, isPermanent } from './codes.ts'
import type { FieldQuery, FieldSpec } from './device.ts'
import { FIELD_VALUE } from './layouts.ts'
import type { Library } from './library.ts'
import { bind, narrow, remembering, wide } from './query.ts'

const FUNCTION = 'nvmlDeviceGetFieldValues'

/** nvmlValueType_t: 0 double, 1 unsigned int, 2 unsigned long (8 bytes), 3 unsigned long long, 4 signed long long, 5 signed int, 6 unsigned short. */
function decodeValue(view: DataView, at: number, type: number): number {
  const value = at + FIELD_VALUE.value
  if (type === 0) return view.getFloat64(value, true)
  if (type === 1) return narrow(view.getUint32(value, true))
  if (type === 4) return view.getInt32(value + 4, true) * 2 ** 32 + view.getUint32(value, true)
  if (type === 5) return view.getInt32(value, true)
  if (type === 6) return view.getUint16(value, true)
  return wide(view.getUint32(value, true), view.getUint32(value + 4, true))
}

/**
 * Fields that the driver does not know (a permanent code, or INVALID_ARGUMENT for a number it never heard of) leave the request,
 * so that each later call asks for what exists; when nothing is left there is no call.
 */
export function fieldQuery(library: Library, gpu: number, handle: bigint, specs: readonly FieldSpec[]): FieldQuery {
  const bytes = new Uint8Array(specs.length * FIELD_VALUE.size)
  const view = new DataView(bytes.buffer)
  const values = new Float64Array(specs.length)
  const codes = new Int32Array(specs.length)
  let asked = specs.map((_, at) => at)
  const prepare = () => remembering(bind(library, gpu, FUNCTION, [handle, asked.length, bytes]))
  let call = prepare()

  const ask = (): number => {
    if (asked.length === 0) return SUCCESS
    for (let i = 0; i < asked.length; i++) {
      const spec = specs[asked[i] ?? 0]
      const at = i * FIELD_VALUE.size
      view.setUint32(at + FIELD_VALUE.fieldId, spec?.id ?? 0, true)
      view.setUint32(at + FIELD_VALUE.scopeId, spec?.scope ?? 0, true)
    }
    const code = call()
    if (code !== SUCCESS) return code
    let gone = false
    for (let i = 0; i < asked.length; i++) {
      const at = i * FIELD_VALUE.size
      const target = asked[i] ?? 0
      const returned = view.getUint32(at + FIELD_VALUE.nvmlReturn, true)
      const value = returned === SUCCESS ? decodeValue(view, at, view.getUint32(at + FIELD_VALUE.valueType, true)) : 0
      codes[target] = returned === INVALID_ARGUMENT ? NOT_SUPPORTED : returned === SUCCESS && Number.isNaN(value) ? NO_DATA : returned
      values[target] = value
      if (isPermanent(codes[target] ?? 0)) gone = true
    }
    if (gone) {
      asked = asked.filter((at) => !isPermanent(codes[at] ?? 0))
      call = prepare()
    }
    return SUCCESS
  }
  const names = specs.map((spec) => `${FUNCTION} field ${spec.id}`)
  return { ask, values, codes, failure: (at) => failureOf(names[at] ?? FUNCTION, codes[at] ?? NOT_SUPPORTED) }
}
