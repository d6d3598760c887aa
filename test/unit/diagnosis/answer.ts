// What `explain` answers to a text, for tests of advice: the kind of the first fault, and all that is said of it as one text.
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

export function answer(text: string): { readonly kind: string | undefined; readonly all: string } {
  const fault = explainText(logScanner(), text)[0]
  return {
    kind: fault?.kind,
    all: `${fault?.title}\n${fault?.verdict}\n${(fault?.remedies ?? []).map((one) => `${one.text} $ ${one.command ?? ''}`).join('\n')}`,
  }
}
