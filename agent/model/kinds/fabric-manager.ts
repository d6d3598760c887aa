// The Fabric Manager of a host with NVSwitches did not start or reports a fault.
import { defineKind } from './kind.ts'

export const fabricManager = defineKind({
  id: 'fabric_manager',
  title: 'Fabric Manager failed',
  layer: 'platform',
  from: 'logs',
  facts: ['client_version', 'kernel_version', 'pattern'],
  quietMinutes: 60,
  crash: { rank: 3 },
})
