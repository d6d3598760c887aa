// Faults during which sampling must not be late: on a machine that does nothing else, a few at a time, which leaves most of the CPU free.
import { shortForms } from '../setup/abuse-short.ts'

shortForms(({ besideOthers }) => besideOthers !== true, { concurrent: true })
