// What the kernel's lines about PCIe errors (AER) say of the link to a GPU.

const UNCORRECTED =
  /\b([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]): {1,4}\[ ?(\d{1,2})\] {0,3}(Surprise Down|SDES|Data Link Protocol|DLP|Completion Timeout|CmpltTO|Malformed TLP|Poisoned TLP)/i
const NAMES: Readonly<Record<string, string>> = { sdes: 'Surprise Down', dlp: 'Data Link Protocol', cmpltto: 'Completion Timeout' }

const ANY_UNCORRECTED = /severity=Uncorrect|AER: (?:Multiple )?Uncorrect|AER: can't recover/
/** Whether the lines tell of an uncorrected error of the link to this GPU. */
export const linkFailed = (text: string, pci: string | undefined): boolean =>
  pci !== undefined && ANY_UNCORRECTED.test(text) && text.toLowerCase().includes(`nvidia ${pci.replace(/\.[0-7]$/, '')}`)

/** A card in an enclosure of its own. */
const UNPLUGGED = /\bthunderbolt \d{1,2}-\d{1,4}: [^\n]{0,40}\bdisconnected/

/** The kernel's words since 3.x, 5.3 and 6.x for a device that does not come out of its sleep. */
export const ASLEEP = /(?:[Uu]nable to|can't|[Rr]efused to) change power state(?: from D3\w{3,4}|, currently in D3)/
/** pciehp: the slot lost its card. */
const SLOT_DOWN = /\bpciehp: Slot\(([\w-]{1,20})\): (?:Link Down|Card not present)/
/** Of a card that is gone already the kernel says the same. */
export function asleepFirst(text: string): boolean {
  const at = text.search(ASLEEP)
  return at >= 0 && !/fallen off the bus/.test(text.slice(0, at)) && !SLOT_DOWN.test(text.slice(0, at))
}
/** README of the driver, "PCI-Express Runtime D3 (RTD3) Power Management". */
export const STAY_AWAKE = {
  text: 'The GPU did not wake up from the sleep state (D3cold) into which the driver puts an idle GPU of a notebook: keep it awake, then reboot.',
  command:
    "echo 'options nvidia NVreg_DynamicPowerManagement=0x00' | sudo tee /etc/modprobe.d/nvidia-stay-awake.conf\nsudo update-initramfs -u || sudo dracut --force",
}

/** The link repeated what did not arrive: once is nothing, often is a bad contact. */
const CORRECTED = /\bpcieport ([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]): (?:AER: )?(?:PCIe Bus Error: severity=Correct|Multiple Correct|Correct)/g
const corrected = (text: string): string | undefined => {
  const ports = [...text.matchAll(CORRECTED)].map((match) => match[1])
  return ports.length < 2
    ? undefined
    : `The kernel also logged corrected PCIe errors (AER) at the port ${ports[0]}: if the GPU is behind it, its link is bad (slot, riser, cable or contacts).`
}

/** A sentence about the first uncorrected error, or undefined where none is logged. */
export function linkEvidence(text: string, withCorrected = true): string | undefined {
  const match = UNCORRECTED.exec(text)
  const name = match?.[3]
  if (match === null || name === undefined)
    return asleepFirst(text)
      ? 'The kernel could not wake it up from its sleep state (D3) before.'
      : SLOT_DOWN.test(text)
        ? `The kernel's hot-plug driver reports the PCIe link of slot ${SLOT_DOWN.exec(text)?.[1]} down: the card lost its power or its contact.`
        : UNPLUGGED.test(text)
          ? 'A Thunderbolt device was disconnected: look at its cable and the power of its enclosure.'
          : withCorrected
            ? corrected(text)
            : undefined
  const error = NAMES[name.toLowerCase()] ?? name
  return `Before it the kernel logged a PCIe error (AER): ${error} at ${match[1]}${/surprise/i.test(error) ? ', so the link went down' : ''}.`
}

/** lspci reads only ones from a card that does not answer. */
export const silent = (text: string, pci: string | undefined): string | undefined =>
  pci !== undefined && new RegExp(`^(?:[0-9a-f]{4}:)?${pci.replace(/^[0-9a-f]+:/i, '').replace('.', '\\.')}[^\\n]{0,200}\\(rev ff\\)`, 'im').test(text)
    ? 'lspci shows it as "rev ff": the card answers nothing at all on the bus.'
    : undefined
