// What http.listen means: who can reach the port, and by which URL.
import { hostname } from 'node:os'

/** `127.0.0.1:9839` and `[::1]:9839` as address and port; an empty address means all addresses. */
function partsOf(listen: string): { readonly address: string; readonly port: string } {
  const colon = listen.lastIndexOf(':')
  return { address: listen.slice(0, colon), port: listen.slice(colon + 1) }
}

const isWildcard = (address: string): boolean => ['', '0.0.0.0', '[::]'].includes(address)

/** Only this machine can reach it. */
export function isLoopback(listen: string): boolean {
  const address = partsOf(listen)
    .address.replace(/^\[|\]$/g, '')
    .toLowerCase()
  return address === 'localhost' || address === '::1' || /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address)
}

/** For a client on this machine: an agent that listens on all addresses is asked on loopback. */
export function localUrl(listen: string): string {
  const { address, port } = partsOf(listen)
  return `http://${isWildcard(address) ? '127.0.0.1' : address}:${port}`
}

/** For readers on other machines: `guessed` where it is made of the host's name. undefined: they cannot reach the port, or it is not known before it is taken. */
export function remoteUrl(listen: string, hostName: string): { readonly url: string; readonly guessed: boolean } | undefined {
  const { address, port } = partsOf(listen)
  if (isLoopback(listen) || port === '0') return undefined
  if (!isWildcard(address)) return { url: `http://${address}:${port}`, guessed: false }
  const named = `http://${hostName}:${port}`
  return { url: URL.canParse(named) ? named : `http://${hostname()}:${port}`, guessed: true }
}
