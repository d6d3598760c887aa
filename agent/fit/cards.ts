// Cards by name, with what programs can have of each: what cudaMemGetInfo calls the total, which is less than what the box says.
import { nearest } from '../lib/nearest.ts'
import type { GpuRoom } from '../model/fit.ts'
import { GIB } from './range.ts'

type Card = { readonly name: string; readonly also: readonly string[]; readonly gib: number }

/**
 * `gib`: the "total capacity" of PyTorch's out of memory messages in public issues, the smallest of those seen (it differs by driver by some tens of MiB), with ECC
 * where it is on by default. For L4, V100 16GB and RTX 3060 no such message was at hand: those are recollected.
 */
const CARDS: readonly Card[] = [
  { name: 'T4', also: ['Tesla T4'], gib: 14.56 },
  { name: 'L4', also: [], gib: 21.95 },
  { name: 'A10', also: ['A10G'], gib: 21.99 },
  { name: 'V100 16GB', also: ['V100'], gib: 15.77 },
  { name: 'V100 32GB', also: [], gib: 31.74 },
  { name: 'P100', also: [], gib: 15.9 },
  { name: 'RTX 3060 12GB', also: ['3060'], gib: 11.76 },
  { name: 'RTX 3080 10GB', also: ['3080'], gib: 9.64 },
  { name: 'RTX 3090', also: ['3090', '3090 Ti'], gib: 23.52 },
  { name: 'RTX 4080', also: ['4080', '4080 SUPER', '4070 Ti SUPER'], gib: 15.7 },
  { name: 'RTX 4090', also: ['4090'], gib: 23.52 },
  { name: 'RTX 5090', also: ['5090'], gib: 31.35 },
  { name: 'RTX A6000', also: ['A6000'], gib: 47.4 },
  { name: 'RTX 6000 Ada', also: ['6000 Ada'], gib: 44.39 },
  { name: 'A40', also: [], gib: 44.39 },
  { name: 'L40S', also: ['L40'], gib: 44.39 },
  { name: 'A100 40GB', also: ['A100'], gib: 39.49 },
  { name: 'A100 80GB', also: [], gib: 79.15 },
  { name: 'H100 80GB', also: ['H100'], gib: 79.1 },
  { name: 'H200', also: ['H200 141GB'], gib: 139.8 },
  { name: 'B200', also: ['B200 180GB'], gib: 178.35 },
]
/** The GPUs to answer for where no agent runs and none is named. */
const USUAL = ['T4', 'RTX 4090', 'L40S', 'A100 40GB', 'A100 80GB', 'H100 80GB', 'H200']
export const MOST_CARDS = 32

/** `NVIDIA GeForce RTX 3090`, `rtx3090`, `a100-80gb` and `A100 80GB` are the same to people. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/nvidia|geforce|tesla|sxm\d?|pcie|hbm\d?e?|gib|gb|[^a-z0-9]/g, '')

const roomOf = ({ name, gib }: Card): GpuRoom => ({ name, capacity_bytes: Math.round(gib * GIB) })

export const CARD_NAMES: readonly string[] = CARDS.map(({ name }) => name)
export const usualCards = (): readonly GpuRoom[] => CARDS.filter(({ name }) => USUAL.includes(name)).map(roomOf)

/** Names joined by commas, or a size of memory such as `24GiB`. */
export function cardsNamed(text: string): readonly GpuRoom[] | { readonly problem: string } {
  const names = text.split(',').map((name) => name.trim())
  if (names.length > MOST_CARDS) return { problem: `gpu: must be at most ${MOST_CARDS} names, not ${names.length}` }
  const rooms: GpuRoom[] = []
  for (const name of names) {
    const wanted = plain(name)
    const card = CARDS.find((one) => [one.name, ...one.also].some((known) => plain(known) === wanted || plain(`RTX ${known}`) === wanted))
    if (card !== undefined) rooms.push(roomOf(card))
    else {
      const [, size] = /^(\d{1,4}(?:\.\d{1,3})?) ?GiB$/i.exec(name) ?? []
      if (size === undefined || Number(size) === 0)
        return {
          problem: `gpu: must be cards such as ${USUAL.slice(0, 3).join(', ')} or a memory such as 24GiB, not ${JSON.stringify(name.slice(0, 60))}; the nearest is ${nearest(name.slice(0, 60), CARD_NAMES) ?? ''}`,
        }
      rooms.push({ name: `${size} GiB`, capacity_bytes: Math.round(Number(size) * GIB) })
    }
  }
  return rooms
}
