// Whether the lines around a fault show a child process that was forked: a worker of a DataLoader, multiprocessing's own frames.
import type { Seen } from './rules.ts'
import { around } from './window.ts'

const FORKED = /in DataLoader worker process|_utils[\\/]worker\.py|multiprocessing[\\/](?:process|popen_fork|pool)\.py|ForkPoolWorker|ForkProcess-\d/

export const inForkedChild = ({ text, at }: Pick<Seen, 'text' | 'at'>): boolean => FORKED.test(around(text, at, 40, 6))
