// GPUs that share the memory of the CPU: what is not free there may be the system's own, and no process of the GPU.
import { gibAsPrinted as gib } from '../../../text/bytes.ts'
import type { Situation } from '../../situation/situation.ts'
import type { Piece } from '../remedies/plan.ts'

/** By name: GB10 and its boards, Jetson, AMD's and Intel's processors with large graphics. */
const SHARED = /\bGB10\b|DGX[ _-]?Spark|[Uu]nified memory|\bgfx115[0-3]\b|Strix Halo|\bRyzen AI Max|\bRadeon 80[56]0S/i
/** By size: GB10 and Jetson Thor report their 128 GB as 119 to 123 GiB, which no card of its own memory has. */
const OF_128_GB = /(?:total capacity of |Free memory on device [\w: ]{0,12}\([\d.]{1,12}\/)(?:119|12[0-3])\.\d{1,2} GiB/
export const sharesMemory = ({ text, jetson }: Situation): boolean => jetson || SHARED.test(text) || OF_128_GB.test(text)

/** docs.nvidia.com/dgx/dgx-spark/known-issues: what the kernel caches of files counts as used for CUDA. */
export const freeShared: Piece = {
  text: 'GPU and CPU share this memory, and files that the kernel caches count as used: drop that cache (nothing is lost, files are read again), and see what else uses the memory.',
  command: 'free -g; sync; echo 3 | sudo tee /proc/sys/vm/drop_caches',
}

/** Desktop, driver and the process's own context take some of every card. */
const OWN = 1.5 * 2 ** 30
/** Who has the rest, as far as the figures tell. */
export const restOf = (situation: Situation, bytes: number): string =>
  sharesMemory(situation)
    ? 'programs, the system and its cache of files have the rest, which GPU and CPU share'
    : bytes > 0 && bytes < OWN
      ? `the other ${gib(bytes)} are with the desktop, the driver or another process`
      : 'another process holds the rest'
