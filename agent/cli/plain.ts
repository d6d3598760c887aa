// Text from outside, made harmless for a terminal.

/** Control characters of a log must not drive the terminal. */
export const plain = (text: string): string => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\u00b7')
