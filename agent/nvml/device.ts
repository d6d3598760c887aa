// placeholder replaced by the NVML work
export type Device = { readonly index: number; readonly uuid: string }
