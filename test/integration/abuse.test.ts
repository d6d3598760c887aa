// Faults during which sampling must not be late: one by one, on a machine that does nothing else.
import { shortForms } from '../setup/abuse-short.ts'

shortForms(({ besideOthers }) => besideOthers !== true)
