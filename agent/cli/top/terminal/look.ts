// What a terminal can show: its colours and letters, and how a style is written for it.
export const COLOURS = ['good', 'warning', 'critical', 'accent', 'job0', 'job1', 'job2', 'job3', 'job4', 'job5'] as const
export type Colour = (typeof COLOURS)[number]
export type Style = { readonly colour?: Colour; readonly bold?: boolean; readonly dim?: boolean; readonly inverse?: boolean }

export type Depth = 'none' | '16' | '256' | 'truecolor'
export type Capabilities = {
  readonly depth: Depth
  readonly unicode: boolean
  /** It may take escape sequences of later terminals. */ readonly modern: boolean
}

type Env = Readonly<Record<string, string | undefined>>

/** NO_COLOR: no-color.org. A serial console and the kernel's own have no braille. */
export function capabilitiesOf(env: Env): Capabilities {
  const term = env['TERM'] ?? ''
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  const old = /^(?:linux|vt\d+|ansi|dumb|cons\d+|)$/.test(term)
  const depth = (): Depth => {
    if ((env['NO_COLOR'] ?? '') !== '' || term === 'dumb' || /^vt\d+$|-mono$/.test(term)) return 'none'
    if (/^(?:truecolor|24bit)$/.test(env['COLORTERM'] ?? '') || term.endsWith('-direct')) return 'truecolor'
    return /256/.test(term) ? '256' : '16'
  }
  return { depth: depth(), unicode: !old && /utf-?8/i.test(locale), modern: !old }
}

/** Foreground of each colour: SGR code of 16 colours, index of 256, red, green and blue. Okabe and Ito's palette for jobs: distinguished also by the colour-blind. */
const CODES: Readonly<Record<Colour, readonly [number, number, string]>> = {
  good: [32, 71, '95;175;95'],
  warning: [33, 178, '230;159;0'],
  critical: [91, 203, '255;95;95'],
  accent: [36, 74, '86;180;233'],
  job0: [34, 75, '86;160;233'],
  job1: [35, 175, '204;121;167'],
  job2: [32, 36, '0;178;125'],
  job3: [33, 179, '230;170;60'],
  job4: [36, 80, '90;200;210'],
  job5: [31, 167, '223;94;60'],
}

export function sgr({ colour, bold, dim, inverse }: Style, depth: Depth): string {
  const codes = ['0']
  if (bold === true) codes.push('1')
  // On 16 colours dim is often unreadable: bright black is the usual grey.
  if (dim === true && colour === undefined) codes.push(depth === '256' || depth === 'truecolor' ? '38;5;245' : depth === '16' ? '90' : '2')
  if (inverse === true) codes.push('7')
  if (colour !== undefined && depth !== 'none') {
    const [basic, indexed, rgb] = CODES[colour]
    codes.push(depth === 'truecolor' ? `38;2;${rgb}` : depth === '256' ? `38;5;${indexed}` : String(basic))
  }
  return `\u001b[${codes.join(';')}m`
}
