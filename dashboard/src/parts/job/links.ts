// The ways from anything that names a job or a GPU to its page, with the range that is looked at.
import { rangeParams } from '../range/range.ts'
import { hrefOf } from '../route.ts'

export const jobHref = (key: string): string => hrefOf('jobs', [key], rangeParams.peek())
export const gpuHref = (index: number | string): string => hrefOf('gpus', [String(index)], rangeParams.peek())
