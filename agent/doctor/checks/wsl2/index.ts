// Checks of WSL2: one line each.
export { wsl2Version } from './version.ts'
export { wsl2GpuDevice } from './gpu-device.ts'
export { wsl2Libraries } from './libraries.ts'
export { wsl2Driver } from './driver.ts'
export { wsl2Memory } from './memory.ts'
export { wsl2Disk } from './disk.ts'
export { wsl2DockerDesktop } from './docker-desktop.ts'
export { wsl2ModelCache } from './model-cache.ts'
