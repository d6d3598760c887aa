// The GTs of an Intel card (its parts that compute or decode): clock, idle time, and what throttles each. i915 and xe have the same in other files.
import type { Card } from '../card.ts'
import { isFailure } from '../files.ts'

export type Gt = {
  /** Renders and computes; the others are for media. */
  readonly main: boolean
  readonly clock: string
  readonly clockMax: string
  /** Milliseconds in its idle state since the driver was loaded. */
  readonly idleMs: string
  /** Holds `gt-c6` while idle; i915 has none. */
  readonly idleStatus: string | undefined
  readonly throttle: { readonly folder: string; readonly prefix: string }
}

function xeGts({ files, device }: Card): readonly Gt[] {
  return files
    .list(device)
    .filter((name) => /^tile\d+$/.test(name))
    .flatMap((tile) =>
      files
        .list(`${device}/${tile}`)
        .filter((name) => /^gt\d+$/.test(name))
        .map((name) => {
          const gt = `${device}/${tile}/${name}`
          const kind = files.text(`${gt}/gtidle/name`)
          return {
            // `gt0-rc` renders and computes, `gt1-mc` is media.
            main: isFailure(kind) ? name === 'gt0' : !kind.endsWith('-mc'),
            clock: `${gt}/freq0/act_freq`,
            clockMax: `${gt}/freq0/rp0_freq`,
            idleMs: `${gt}/gtidle/idle_residency_ms`,
            idleStatus: `${gt}/gtidle/idle_status`,
            throttle: { folder: `${gt}/freq0/throttle`, prefix: 'reason_' },
          }
        }),
    )
}

function i915Gts({ files, folder, integrated }: Card): readonly Gt[] {
  const names = files.list(`${folder}/gt`).filter((name) => /^gt\d+$/.test(name))
  // Before Linux 5.18 the figures of the only GT are in the card's own folder.
  if (names.length === 0)
    return [
      {
        main: true,
        clock: `${folder}/gt_act_freq_mhz`,
        clockMax: `${folder}/gt_RP0_freq_mhz`,
        idleMs: `${folder}/power/rc6_residency_ms`,
        idleStatus: undefined,
        throttle: { folder: `${folder}/gt/gt0`, prefix: 'throttle_reason_' },
      },
    ]
  return names.map((name) => {
    const gt = `${folder}/gt/${name}`
    return {
      // On the CPU's chip the second one is for media (Meteor Lake); cards with several have tiles, each of which computes (Data Center GPU Max).
      main: name === 'gt0' || !integrated,
      clock: `${gt}/rps_act_freq_mhz`,
      clockMax: `${gt}/rps_RP0_freq_mhz`,
      idleMs: `${gt}/rc6_residency_ms`,
      idleStatus: undefined,
      throttle: { folder: gt, prefix: 'throttle_reason_' },
    }
  })
}

export const gtsOf = (card: Card): readonly Gt[] => (card.driver === 'xe' ? xeGts(card) : i915Gts(card))
