// Makes warpwatch.example.yaml from the declarations of the configuration and of the detectors.
import { DETECTOR_LIST } from '../../agent/cli/config/detector-settings.ts'
import { exampleYaml } from '../../agent/config/example.ts'
import type { Generator } from './generator.ts'

export const exampleConfig: Generator = { files: () => new Map([['warpwatch.example.yaml', exampleYaml(DETECTOR_LIST)]]) }
