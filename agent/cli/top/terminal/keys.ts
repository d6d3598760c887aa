// What a terminal sends for keys and the mouse, as names: a letter is itself, others are `up`, `enter`, `ctrl-c`, `click 12 5`, `wheel-down 12 5` (column and row from 0).
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
/** `[<BUTTON;COLUMN;ROW` and M for a press, m for a release (xterm's mode 1006). */
const MOUSE = /^\[<(\d{1,3});(\d{1,4});(\d{1,4})M$/
const BUTTONS: Readonly<Record<string, string>> = { '0': 'click', '64': 'wheel-up', '65': 'wheel-down' }
function mouseIn(sequence: string): string | undefined {
  const [, button = '', column, row] = MOUSE.exec(sequence) ?? []
  const name = BUTTONS[button]
  return name === undefined ? undefined : `${name} ${Number(column) - 1} ${Number(row) - 1}`
}
const SEQUENCE = /^\u001b(\[[0-9;<]*[A-Za-z~]|O[A-Za-z])/

/** The keys in what came at once; sequences that are not known are passed over. */
export function keysIn(text: string): readonly string[] {
  const keys: string[] = []
  let rest = text
  while (rest !== '') {
    const [whole, sequence] = SEQUENCE.exec(rest) ?? []
    if (whole !== undefined) {
      const key = SEQUENCES[sequence ?? ''] ?? mouseIn(sequence ?? '')
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
