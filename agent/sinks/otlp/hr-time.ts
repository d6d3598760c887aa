// Milliseconds as the SDK of OpenTelemetry has times: whole seconds and nanoseconds.
export const hrTime = (ms: number): [number, number] => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1e6)]
