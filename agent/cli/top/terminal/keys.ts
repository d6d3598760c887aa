// What a terminal sends for keys, as names: a letter is itself, others are `up`, `enter`, `ctrl-c`.
const SEQUENCES: Readonly<Record<string, string>> = {
  '[A': 'up',
  '[B': 'down',
  '[C': 'right',
  '[D': 'left',
  OA: 'up',
  OB: 'down',
  OC: 'right',
  OD: 'left',
  '[H': 'home',
  '[F': 'end',
  OH: 'home',
  OF: 'end',
  '[1~': 'home',
  '[4~': 'end',
  '[5~': 'page-up',
  '[6~': 'page-down',
  '[Z': 'back-tab',
}
const CONTROLS: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\u007f': 'backspace',
  '\b': 'backspace',
  '\u0003': 'ctrl-c',
  '\u001a': 'ctrl-z',
  '\u000c': 'ctrl-l',
}
const SEQUENCE = /^\u001b(\[[0-9;<]*[A-Za-z~]|O[A-Za-z])/

/** The keys in what came at once; sequences that are not known are passed over. */
export function keysIn(text: string): readonly string[] {
  const keys: string[] = []
  let rest = text
  while (rest !== '') {
    const [whole, sequence] = SEQUENCE.exec(rest) ?? []
    if (whole !== undefined) {
      const key = SEQUENCES[sequence ?? '']
      if (key !== undefined) keys.push(key)
      rest = rest.slice(whole.length)
      continue
    }
    const [char = ''] = rest
    if (char === '\u001b') keys.push('escape')
    else if (CONTROLS[char] !== undefined) keys.push(CONTROLS[char])
    else if (char >= ' ') keys.push(char)
    rest = rest.slice(char.length)
  }
  return keys
}
