// Colours of a terminal, and what must not reach it.

const CODES = {
  critical: '\u001b[31;1m',
  warning: '\u001b[33;1m',
  info: '\u001b[36;1m',
  strong: '\u001b[1m',
  dim: '\u001b[2m',
  command: '\u001b[32m',
} as const
const OFF = '\u001b[0m'
export type Colour = keyof typeof CODES
export type Paint = (colour: Colour, text: string) => string

export const painter =
  (coloured: boolean): Paint =>
  (colour, text) =>
    coloured ? `${CODES[colour]}${text}${OFF}` : text

/** Only a terminal is painted, and not where NO_COLOR is set (no-color.org). */
export const isColoured = (env: Readonly<Record<string, string | undefined>>): boolean => process.stdout.isTTY && (env['NO_COLOR'] ?? '') === ''

/** What a log may contain must not reach the terminal as commands to it. */
export const printable = (text: string): string => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '·').replaceAll('\t', ' ')
