// The families of progress formats, in the order in which they are asked: the most particular first.
import { bar } from './bar.ts'
import { block } from './block.ts'
import { chunks } from './chunks.ts'
import { epoch } from './epoch.ts'
import type { Format } from './format.ts'
import { hashcat } from './hashcat.ts'
import { json } from './json.ts'
import { keras } from './keras.ts'
import { line } from './line.ts'
import { plan } from './plan.ts'
import { rounds } from './rounds.ts'
import { timeBar } from './time-bar.ts'

export const FORMATS: readonly Format[] = [keras, bar, timeBar, json, block, epoch, rounds, chunks, hashcat, plan, line]
