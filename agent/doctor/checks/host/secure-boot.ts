// Secure Boot does not keep the driver out: then its module must be signed by a key that this machine trusts.
import { defineCheck } from '../../definition.ts'
import type { Distribution } from '../../parts/distribution.ts'
import { loadedModule, moduleOnDisk } from '../../parts/driver-files.ts'
import { readKernelLines } from '../../parts/kernel-lines.ts'
import { servedGpus, skipped } from '../../parts/nvidia-pci.ts'

/** Of the UEFI specification; four bytes of attributes, then 1 for on. */
const VARIABLE = '/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c'
/** What the kernel says when it refuses a module (kernel/module/signing.c, certs). */
const REFUSED = /(Loading of (unsigned )?module .*is rejected|Key was rejected by service|Required key not available|module verification failed).*/i

/** Where each distribution keeps the key with which it signs the modules that it builds. */
const ENROL: Readonly<Record<Distribution['family'], string>> = {
  ubuntu: 'sudo update-secureboot-policy --enroll-key',
  debian: 'sudo mokutil --import /var/lib/dkms/mok.pub',
  rhel: 'sudo mokutil --import /var/lib/dkms/mok.pub',
  fedora: 'sudo kmodgenca --auto; sudo mokutil --import /etc/pki/akmods/certs/public_key.der',
  suse: 'sudo mokutil --import /usr/share/nvidia-pubkeys/MOK-*.der',
  arch: 'sudo mokutil --import /var/lib/dkms/mok.pub',
  alpine: 'sudo mokutil --import KEY.der',
  nixos: 'sudo mokutil --import KEY.der',
  unknown: 'sudo mokutil --import KEY.der',
}

export const secureBoot = defineCheck({
  id: 'secure-boot',
  group: 'host',
  title: "Secure Boot lets the driver's module in",
  covers: ['gpu_not_visible'],
  async run(around) {
    const found = await servedGpus(around)
    if ('skip' in found) return found.skip
    const variable = await around.files.readText(VARIABLE, 8)
    if (variable === undefined) return skipped('this system was not started by UEFI, or hides that from here')
    if (!variable.endsWith('\u0001')) return [{ status: 'pass', summary: 'Secure Boot is off' }]
    if ((await loadedModule(around.files)) !== undefined || found.gpus.some(({ driver }) => driver === 'nvidia'))
      return [{ status: 'pass', summary: 'Secure Boot is on, and the module is loaded' }]
    const onDisk = await moduleOnDisk(around.run)
    if (onDisk === undefined) return skipped('Secure Boot is on; no module is installed that it could refuse, see driver-loaded')
    const log = await readKernelLines(around.run)
    const said = 'lines' in log ? log.lines.map(({ text }) => REFUSED.exec(text)?.[0]).find((text) => text !== undefined) : undefined
    const { family } = await around.distribution()
    const signed = onDisk.signer === '' ? 'it is not signed' : `it is signed by ${JSON.stringify(onDisk.signer)}`
    return [
      {
        status: said !== undefined || onDisk.signer === '' ? 'fail' : 'warn',
        summary: `Secure Boot is on and the installed module ${onDisk.version} is not loaded: ${said === undefined ? signed : 'the kernel refused it'}`,
        ...(said === undefined ? {} : { detail: said }),
        remedies: [
          { text: 'Have this machine trust the key of the module; it asks for a password of your choice.', command: ENROL[family] },
          { text: 'Reboot. A blue screen (MOK Manager) comes up: choose "Enroll MOK", "Continue", and give that password.', command: 'sudo reboot' },
          { text: 'Then see whether it loads.', command: 'sudo modprobe nvidia && nvidia-smi' },
          { text: 'Or turn Secure Boot off in the firmware, if nothing on this machine needs it.' },
        ],
      },
    ]
  },
})
