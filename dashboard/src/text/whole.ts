// A sentence in which no line ends between a figure and its unit: "in 60" and "s", "38.6" and "GiB". Pure.

const BEFORE_UNIT = /(\d) (?=(?:[KMGT]i?B|[MG]Hz|W|°C|%|ms|s|min|h|d)(?![\w-]))/g

export const wholeFigures = (text: string): string => text.replace(BEFORE_UNIT, '$1\u00a0')
