// Tells a user's own code from that of Python and of installed packages.
import type { Frame } from './model.ts'

const LIBRARY = /(?:site|dist)-packages\/|\/lib\/python3\.\d+\/|^<frozen |^<string>|^<__array_function__/
export const isLibrary = ({ file }: Frame): boolean => LIBRARY.test(file)
export const ownFrame = (frames: readonly Frame[]): Frame | undefined => frames.find((frame) => !isLibrary(frame)) ?? frames[0]
