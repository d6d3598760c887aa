// A diagnosis whose incidents are handed on one by one as they change, as the pipeline does it.
import { createDiagnosis, type Diagnosis, type DiagnosisOptions } from '../../agent/diagnosis/diagnosis.ts'
import type { Incident } from '../../agent/model/incident.ts'

export type HeardDiagnosisOptions = DiagnosisOptions & { readonly onChange: (incident: Incident) => unknown }

export function createHeardDiagnosis({ onChange, ...options }: HeardDiagnosisOptions): Diagnosis {
  const diagnosis = createDiagnosis(options)
  const heard = (incidents: readonly Incident[]): readonly Incident[] => {
    incidents.forEach(onChange)
    return incidents
  }
  return { ...diagnosis, ingest: (event) => heard(diagnosis.ingest(event)), flush: () => heard(diagnosis.flush()) }
}
