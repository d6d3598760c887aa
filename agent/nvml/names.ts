// The NVML functions that the agent may call, with their parameters. A function's place in the list is its ordinal in the marker of the call in flight; append only.

/**
 * Parameters by letter: h device handle, s another handle (event set, GPM sample), u 32-bit number, l 64-bit number, p pointer to memory of ours.
 * All of them return a code. Signatures: NVML header 13.3; the unversioned names of process lists are the old ABI with 16-byte entries.
 */
const SIGNATURES = {
  nvmlInit_v2: '',
  nvmlShutdown: '',
  nvmlSystemGetDriverVersion: 'pu',
  nvmlSystemGetNVMLVersion: 'pu',
  nvmlSystemGetCudaDriverVersion_v2: 'p',
  nvmlSystemGetCudaDriverVersion: 'p',
  nvmlDeviceGetCount_v2: 'p',
  nvmlDeviceGetHandleByIndex_v2: 'up',
  nvmlDeviceGetUUID: 'hpu',
  nvmlDeviceGetName: 'hpu',
  nvmlDeviceGetPciInfo_v3: 'hp',
  nvmlDeviceGetSerial: 'hpu',
  nvmlDeviceGetVbiosVersion: 'hpu',
  nvmlDeviceGetMinorNumber: 'hp',
  nvmlDeviceGetMemoryInfo_v2: 'hp',
  nvmlDeviceGetMemoryInfo: 'hp',
  nvmlDeviceGetBAR1MemoryInfo: 'hp',
  nvmlDeviceGetUtilizationRates: 'hp',
  nvmlDeviceGetEncoderUtilization: 'hpp',
  nvmlDeviceGetDecoderUtilization: 'hpp',
  nvmlDeviceGetJpgUtilization: 'hpp',
  nvmlDeviceGetOfaUtilization: 'hpp',
  nvmlDeviceGetTemperatureV: 'hp',
  nvmlDeviceGetTemperature: 'hup',
  nvmlDeviceGetNumFans: 'hp',
  nvmlDeviceGetFanSpeed_v2: 'hup',
  nvmlDeviceGetFanSpeed: 'hp',
  nvmlDeviceGetPowerUsage: 'hp',
  nvmlDeviceGetEnforcedPowerLimit: 'hp',
  nvmlDeviceGetPowerManagementLimitConstraints: 'hpp',
  nvmlDeviceGetPowerManagementDefaultLimit: 'hp',
  nvmlDeviceGetTotalEnergyConsumption: 'hp',
  nvmlDeviceGetClockInfo: 'hup',
  nvmlDeviceGetMaxClockInfo: 'hup',
  nvmlDeviceGetPerformanceState: 'hp',
  nvmlDeviceGetCurrentClocksEventReasons: 'hp',
  nvmlDeviceGetCurrentClocksThrottleReasons: 'hp',
  nvmlDeviceGetCurrPcieLinkGeneration: 'hp',
  nvmlDeviceGetCurrPcieLinkWidth: 'hp',
  nvmlDeviceGetMaxPcieLinkGeneration: 'hp',
  nvmlDeviceGetMaxPcieLinkWidth: 'hp',
  nvmlDeviceGetPcieReplayCounter: 'hp',
  nvmlDeviceGetEccMode: 'hpp',
  nvmlDeviceGetTotalEccErrors: 'huup',
  nvmlDeviceGetRetiredPages_v2: 'huppp',
  nvmlDeviceGetRetiredPagesPendingStatus: 'hp',
  nvmlDeviceGetRemappedRows: 'hpppp',
  nvmlDeviceGetNvLinkState: 'hup',
  nvmlDeviceGetMigMode: 'hpp',
  nvmlDeviceGetMaxMigDeviceCount: 'hp',
  nvmlDeviceGetMigDeviceHandleByIndex: 'hup',
  nvmlDeviceGetGpuInstanceId: 'hp',
  nvmlDeviceGetComputeInstanceId: 'hp',
  nvmlDeviceGetAttributes_v2: 'hp',
  nvmlDeviceGetComputeRunningProcesses_v3: 'hpp',
  nvmlDeviceGetComputeRunningProcesses_v2: 'hpp',
  nvmlDeviceGetComputeRunningProcesses: 'hpp',
  nvmlDeviceGetGraphicsRunningProcesses_v3: 'hpp',
  nvmlDeviceGetGraphicsRunningProcesses_v2: 'hpp',
  nvmlDeviceGetGraphicsRunningProcesses: 'hpp',
  nvmlDeviceGetMPSComputeRunningProcesses_v3: 'hpp',
  nvmlDeviceGetMPSComputeRunningProcesses_v2: 'hpp',
  nvmlDeviceGetMPSComputeRunningProcesses: 'hpp',
  /** Never called: that they exist or not tells the driver's age. */
  nvmlDeviceGetConfComputeMemSizeInfo: 'hp',
  nvmlDeviceGetRunningProcessDetailList: 'hp',
  nvmlDeviceGetFieldValues: 'hup',
  nvmlDeviceGetPersistenceMode: 'hp',
  nvmlDeviceGetComputeMode: 'hp',
  nvmlEventSetCreate: 'p',
  nvmlEventSetFree: 's',
  nvmlDeviceGetSupportedEventTypes: 'hp',
  nvmlDeviceRegisterEvents: 'hls',
  nvmlEventSetWait_v2: 'spu',
  nvmlGpmQueryDeviceSupport: 'hp',
  nvmlGpmSampleAlloc: 'p',
  nvmlGpmSampleFree: 's',
  nvmlGpmSampleGet: 'hs',
  nvmlGpmMigSampleGet: 'hus',
  nvmlGpmMetricsGet: 'p',
  nvmlDeviceGetTemperatureThreshold: 'hup',
  nvmlDeviceGetCudaComputeCapability: 'hpp',
  nvmlDeviceGetProcessUtilization: 'hppl',
  nvmlDeviceGetProcessesUtilizationInfo: 'hp',
  nvmlDeviceGetAccountingMode: 'hp',
  nvmlDeviceGetAccountingPids: 'hpp',
  nvmlDeviceGetAccountingStats: 'hup',
} as const

export type FunctionName = keyof typeof SIGNATURES

const list = Object.entries(SIGNATURES)

/** Every function with its parameters, in the order of the ordinals. */
export const FUNCTIONS: readonly (readonly [name: string, parameters: string])[] = list

const ordinals = new Map(list.map(([name], ordinal) => [name, ordinal]))

export const functionOrdinal = (name: FunctionName): number => ordinals.get(name) ?? -1

/** The name behind an ordinal of the marker; undefined for one that this version does not know. */
export const functionName = (ordinal: number): string | undefined => list[ordinal]?.[0]
