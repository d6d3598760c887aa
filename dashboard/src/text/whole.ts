// Where a line may not end: within a figure and its unit ("in 60" and "s", "38.6" and "GiB"), nor behind the hyphens of a flag ("--" and "format=…"). Pure.

const WHOLE = /(--\w\S*|\d[\d.,]* (?:[KMGT]i?B|[MG]Hz|W|°C|%|ms|s|min|h|d)(?![\w-]))/

/** Each second part has to stay on one line. */
export const wholeParts = (text: string): readonly string[] => text.split(WHOLE)
