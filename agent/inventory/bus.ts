// PCI addresses, which everybody spells in another way.

/**
 * `0000:3b:00`, `PCI:00000000:3B:00.0`, `3b:00.0` and the like, to one form: domain, bus, device (`0:3b:00`). A GPU has one function. undefined: no address.
 * NVML writes eight digits of domain, the kernel and lspci four or none.
 */
export function busKey(address: string): string | undefined {
  const match = /(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})(?:\.[0-9a-f])?/i.exec(address)
  if (match?.[2] === undefined || match[3] === undefined) return undefined
  return `${Number.parseInt(match[1] ?? '0', 16).toString(16)}:${match[2].toLowerCase()}:${match[3].toLowerCase()}`
}
