// Faults whose outcome does not depend on how busy the machine is.
// Long: about 60 s.
import { shortForms } from '../setup/abuse-short.ts'

shortForms(({ besideOthers }) => besideOthers === true)
