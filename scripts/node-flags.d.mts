// Types of node-flags.mjs for the benches.
export declare const nodeFlags: (args: readonly string[]) => string[]
