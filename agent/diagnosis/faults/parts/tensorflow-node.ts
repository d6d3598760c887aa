// Where TensorFlow 1 placed the operation that failed: it prints the node below its message, with the device.
import type { LogText } from '../family.ts'
import { around } from './window.ts'

/** A warning of the kernel comes first, then the traceback, and the node at its end. */
const BELOW = 24
const NODE = /\[\[Node: [^\n]{0,2000}?_device="[^"\n]{0,100}\/(?:device:)?([CGcg][Pp][Uu]):\d/

/** Whether the first node named below ran on the CPU. */
export const nodeOnCpu = (text: LogText, at: number): boolean => NODE.exec(around(text, at, 0, BELOW))?.[1]?.toLowerCase() === 'cpu'
