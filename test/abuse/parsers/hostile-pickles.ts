// Pickles that would run something in Python: each makes the file CANARY there, by one of the opcodes that call. The reader has none of them.

/** Where none of the pickles ran anything, there is no such file. The same path in every process, whatever its own temporary folder. */
export const CANARY = '/tmp/warpwatch-abuse-pickle-ran'

const COMMAND = `touch ${CANARY}`
const short = (text: string): Buffer => Buffer.concat([Buffer.of(0x8c, Buffer.byteLength(text)), Buffer.from(text)])
const unicode = (text: string): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(Buffer.byteLength(text))
  return Buffer.concat([Buffer.from('X'), length, Buffer.from(text)])
}
const proto = (version: number, ...parts: readonly (Buffer | string)[]): Buffer =>
  Buffer.concat([Buffer.of(0x80, version), ...parts.map((part) => Buffer.from(part)), Buffer.from('.')])
const list = (...parts: readonly (Buffer | string)[]): readonly (Buffer | string)[] => [']', '(', ...parts, 'e']

export type HostilePickle = { readonly name: string; readonly bytes: Buffer }

/** Opcodes by their names in CPython's pickle.py. */
export const HOSTILE_PICKLES: readonly HostilePickle[] = [
  { name: 'GLOBAL and REDUCE', bytes: proto(2, 'cos\nsystem\n', unicode(COMMAND), Buffer.of(0x85), 'R') },
  { name: 'STACK_GLOBAL and REDUCE', bytes: proto(4, short('os'), short('system'), Buffer.of(0x93), short(COMMAND), Buffer.of(0x85), 'R') },
  { name: 'INST', bytes: proto(2, '(', unicode(COMMAND), 'ios\nsystem\n') },
  { name: 'OBJ', bytes: proto(2, '(', 'cos\nsystem\n', unicode(COMMAND), 'o') },
  { name: 'NEWOBJ', bytes: proto(2, 'csubprocess\nPopen\n', unicode(COMMAND), Buffer.of(0x85), Buffer.of(0x81)) },
  { name: 'NEWOBJ_EX', bytes: proto(4, short('subprocess'), short('Popen'), Buffer.of(0x93), short(COMMAND), Buffer.of(0x85), '}', Buffer.of(0x92)) },
  { name: 'BUILD', bytes: proto(2, 'c__main__\nThing\n', ')', Buffer.of(0x81), '}', unicode('__setstate__'), unicode(COMMAND), 's', 'b') },
  { name: 'EXT1, EXT2 and EXT4', bytes: proto(2, ...list(Buffer.of(0x82, 1), Buffer.of(0x83, 1, 0), Buffer.of(0x84, 1, 0, 0, 0))) },
  { name: 'PERSID', bytes: proto(2, `P${COMMAND}\n`) },
  { name: 'BINPERSID', bytes: proto(2, unicode(COMMAND), 'Q') },
  { name: 'NEXT_BUFFER', bytes: proto(5, Buffer.of(0x97), Buffer.of(0x98)) },
  { name: 'REDUCE inside a dict of a snapshot', bytes: proto(2, '}', '(', unicode('segments'), 'cos\nsystem\n', unicode(COMMAND), Buffer.of(0x85), 'R', 'u') },
  {
    name: 'a call kept in the memo and called later',
    bytes: proto(4, 'cbuiltins\neval\n', Buffer.of(0x94), short(COMMAND), Buffer.of(0x85), 'h', Buffer.of(0), 'R'),
  },
]
