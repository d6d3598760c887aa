// Faults whose outcome does not depend on how busy the machine is.
// Long: begun early.
import { shortForms } from '../setup/abuse-short.ts'

shortForms(({ besideOthers }) => besideOthers === true)
