// How sure a verdict is of its cause.

/** `read`: it is in the text. `computed`: it follows from figures. `likely`: text and figures point at it and do not prove it. */
export const CONFIDENCES = ['read', 'computed', 'likely'] as const
export type Confidence = (typeof CONFIDENCES)[number]
