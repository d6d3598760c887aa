// The diagnosis of this host: fault families and detectors as they are configured, and the incidents of before the start.
import type { ReloadPart } from '../config/reload.ts'
import type { Config } from '../config/schema.ts'
import { createCustomThresholds } from '../diagnosis/custom-thresholds.ts'
import { createDetection } from '../diagnosis/detection.ts'
import type { DetectorDefinition } from '../diagnosis/detectors/definition.ts'
import * as detectors from '../diagnosis/detectors/index.ts'
import { createDiagnosis, type Diagnosis } from '../diagnosis/diagnosis.ts'
import { explainRunEnd } from '../diagnosis/explain.ts'
import { createLogJudge } from '../diagnosis/live-judge.ts'
import { logScanner } from '../diagnosis/log-scanner.ts'
import type { ContainerSettings } from '../model/incident.ts'
import type { Log } from '../model/source.ts'
import type { Stores } from './stores.ts'
import { stackOf } from '../text/error.ts'

export type HostDiagnosisOptions = {
  readonly config: Config
  readonly stores: Pick<Stores, 'incidents' | 'maintenance'>
  readonly settingsOf: (containerId: string) => ContainerSettings | undefined
  readonly log: Log
}
export type HostDiagnosis = Omit<Diagnosis, 'restore'> & {
  /** Takes up the incidents that were firing when the agent ended. */
  readonly restore: () => void
  readonly reload: ReloadPart
}

export function createHostDiagnosis({ config, stores, settingsOf, log }: HostDiagnosisOptions): HostDiagnosis {
  const customThresholds = createCustomThresholds()
  const definitionsOf = (of: Config): readonly DetectorDefinition[] => [...Object.values(detectors), ...customThresholds(of.detectors.custom)]
  const detection = createDetection({
    definitions: definitionsOf(config),
    settings: config.detectors.settings,
    onFailure: (id, error) => log.error(`detector ${id} failed: ${stackOf(error)}`),
  })
  const diagnosis = createDiagnosis({
    judge: createLogJudge(logScanner()).judge,
    judgeRunEnd: (lines, known, know) => explainRunEnd(logScanner(), lines, known, know),
    detection,
    hostname: config.host_name,
    settingsOf,
    onBaseline: stores.maintenance.keepBaseline,
    onEvidenceFull: (max) =>
      log.warn(
        `more than ${max} series of processes and containers: the evidence of incidents lacks those that came last; series of GPUs and host are still kept`,
      ),
  })
  return {
    ...diagnosis,
    restore: () => diagnosis.restore(stores.incidents.unresolved(), stores.maintenance.baseline()),
    reload: { takes: ['detectors'], prepare: (next) => () => detection.configure(definitionsOf(next), next.detectors.settings) },
  }
}
