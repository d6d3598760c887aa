// One minute by minute view of each process on a card beside the others: what it holds, what all others hold, what is free. From the driver's figures, and the
// probe's where there is one.
import { createMinutes, type Minutes } from '../parts/minutes.ts'
import type { Track, Tracks } from '../parts/tracks.ts'

/** own: its bytes on the card. others: all that is used and not its own. need: what it cannot give back (from the probe; else its own bytes). */
export type RoomFigure = 'own' | 'others' | 'need' | 'free'
/** `peak`: the most that it needed since its first minutes. */
export type Room = { readonly minutes: Minutes<RoomFigure>; readonly sinceT: number; peak: number }
export type Rooms = {
  readonly sample: (t: number) => void
  readonly of: (track: Track) => Room | undefined
}

/** The process list and the memory of the card are read a moment apart. */
const TOGETHER_MS = 2_500
const FRESH_MS = 5_000
/** Minutes that are looked at; a few more are kept, to know the level before them. */
export const ROOM_MINUTES = 60
export const KEPT_MINUTES = 66
/** A process takes what it needs in its first minutes; nothing is said of it before. */
export const SETTLE_MS = 120_000

export function createRooms(tracks: Tracks): Rooms {
  const rooms = new WeakMap<Track, Room>()
  return {
    sample(t) {
      for (const track of tracks.all()) {
        const gpu = tracks.gpu(track.uuid)
        const { nvml, sample } = track
        // In a MIG instance no other process can take memory, and the GPU's own figures are not its headroom.
        if (gpu === undefined || nvml === undefined || track.endedT !== undefined || track.mig) continue
        if (Math.abs(t - gpu.t) > FRESH_MS || Math.abs(nvml.t - gpu.t) > TOGETHER_MS) continue
        const own = nvml.bytes
        const { reserved_bytes: reserved, active_bytes: active, inactive_split_bytes: split } = sample?.stats ?? {}
        const probed = sample !== undefined && Math.abs(t - sample.t) <= FRESH_MS && reserved !== undefined && active !== undefined
        // What PyTorch could give back is no need; the context and the libraries are.
        const need = probed ? Math.max(0, own - Math.max(0, reserved - active - (split ?? 0))) : own
        let room = rooms.get(track)
        if (room === undefined) rooms.set(track, (room = { minutes: createMinutes(['own', 'others', 'need', 'free'], KEPT_MINUTES), sinceT: t, peak: 0 }))
        if (t - room.sinceT >= SETTLE_MS) room.peak = Math.max(room.peak, need)
        room.minutes.add(t, { own, others: Math.max(0, gpu.used - own), need, free: gpu.free })
      }
    },
    of: (track) => rooms.get(track),
  }
}
