// Writes warpwatch.example.yaml from the declarations of the configuration and of the detectors: `node scripts/example-config.ts`. A test holds the two equal.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DETECTOR_LIST } from '../agent/cli/detector-settings.ts'
import { exampleYaml } from '../agent/config/example.ts'

/** The whole file. */
export const exampleConfig = (): string => exampleYaml(DETECTOR_LIST)

if (import.meta.main) writeFileSync(join(import.meta.dirname, '../warpwatch.example.yaml'), exampleConfig())
