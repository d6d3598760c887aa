// Colours, thresholds and words of values: chosen to be distinguished by colour-blind people too, and never alone in saying something.
import { FieldColorModeId, MappingType, ThresholdsConfigBuilder, ThresholdsMode, type ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard'

/** Okabe and Ito, Color Universal Design (2008), less black and yellow, which one of the two themes swallows. */
export const BLUE = '#0072B2'
export const SKY = '#56B4E9'
export const GREEN = '#009E73'
export const ORANGE = '#E69F00'
export const VERMILLION = '#D55E00'
export const PURPLE = '#CC79A7'
export const GREY = '#8E8E8E'

/** The queries of a panel in their order. */
export const ORDER: readonly string[] = [BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION, GREY]

export const WARN = ORANGE
export const BAD = VERMILLION

export type Step = readonly [from: number, colour: string]
/** Below the first step, and without any, the colour is that of a plain figure. */
export const thresholds = (steps: readonly Step[] = [], calm: string = BLUE): ThresholdsConfigBuilder =>
  new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([{ value: null, color: calm }, ...steps.map(([value, color]) => ({ value, color }))])

export const fixed = (colour: string): { readonly mode: FieldColorModeId; readonly fixedColor: string } => ({
  mode: FieldColorModeId.Fixed,
  fixedColor: colour,
})
/** Several series of one query: shades of one colour rather than a rainbow; which is which, the tooltip and the legend tell. */
export const shades = (colour: string): { readonly mode: FieldColorModeId; readonly fixedColor: string } => ({
  mode: FieldColorModeId.Shades,
  fixedColor: colour,
})

export type Word = readonly [value: string, text: string, colour: string]
export const words = (...list: readonly Word[]): ValueMapping[] => [
  { type: MappingType.ValueToText, options: Object.fromEntries(list.map(([value, text, color], index) => [value, { text, color, index }])) },
]

export const SEVERITIES: readonly Word[] = [
  ['critical', 'critical', BAD],
  ['warning', 'warning', WARN],
  ['info', 'info', SKY],
]
export const byState = (no: string, yes: string, bad: string): ValueMapping[] => words(['0', no, GREY], ['1', yes, bad])
