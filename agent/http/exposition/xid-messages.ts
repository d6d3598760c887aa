// err_msg of DCGM_FI_DEV_XID_ERRORS: the short names of NVIDIA's Xid table (docs.nvidia.com/deploy/xid-errors) for the codes that dashboards
// and rules meet; other codes say "Unknown Error", as dcgm-exporter does for those it does not know.
const MESSAGES: Readonly<Record<number, string>> = {
  0: 'No Error',
  8: 'GPU stopped processing',
  13: 'Graphics Engine Exception',
  31: 'GPU memory page fault',
  32: 'Invalid or corrupted push buffer stream',
  38: 'Driver firmware error',
  43: 'GPU stopped processing',
  44: 'Graphics Engine fault during context switch',
  45: 'Preemptive cleanup, due to previous errors -- Most likely to see when running multiple cuda applications and hitting a DBE',
  48: 'Double Bit ECC Error',
  54: 'Auxiliary power is not connected to the GPU board',
  61: 'Internal micro-controller breakpoint/warning (newer drivers)',
  62: 'Internal micro-controller halt (newer drivers)',
  63: 'ECC page retirement or row remapping recording event',
  64: 'ECC page retirement or row remapper recording failure',
  66: 'Illegal access by driver',
  68: 'NVDEC0 Exception',
  69: 'Graphics Engine class error',
  74: 'NVLINK Error',
  79: 'GPU has fallen off the bus',
  92: 'High single-bit ECC error rate',
  94: 'Contained ECC error',
  95: 'Uncontained ECC error',
  109: 'Context Switch Timeout Error',
  110: 'Security Fault Error',
  119: 'GSP RPC Timeout',
  120: 'GSP Error',
  140: 'Unrecovered ECC Error',
}

export const xidMessage = (xid: number): string => MESSAGES[xid] ?? 'Unknown Error'
