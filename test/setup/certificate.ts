// A certificate that signed itself, made by openssl; undefined where there is no openssl.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Certificate = { readonly key: string; readonly cert: string; readonly certPath: string; readonly remove: () => void }

/** `names` as subjectAltName wants them: `DNS:localhost,IP:127.0.0.1`. */
export function selfSigned(names: string): Certificate | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-certificate-'))
  const [keyPath, certPath] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyPath]
  try {
    execFileSync('openssl', ['req', '-x509', ...key, '-out', certPath, '-days', '2', '-subj', '/CN=warpwatch test', '-addext', `subjectAltName=${names}`], {
      stdio: 'ignore',
    })
  } catch {
    rmSync(folder, { recursive: true, force: true })
    return undefined
  }
  return {
    key: readFileSync(keyPath, 'utf8'),
    cert: readFileSync(certPath, 'utf8'),
    certPath,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
