// Floods the probes' socket: from owned processes with lines without end, byte by byte, and with connections without end.
import { connect, type Socket } from 'node:net'

/** Ends the flood. */
export type Flood = () => void

function pour(path: string, first: string, piece: Buffer, isOver: () => boolean): Socket {
  const socket = connect(path)
  socket.on('error', () => socket.destroy()) // it was refused: that is what the flood is about
  socket.resume()
  if (first !== '') socket.write(first)
  const more = (): void => {
    if (isOver() || socket.destroyed) return
    if (socket.write(piece)) setImmediate(more)
    else socket.once('drain', more)
  }
  more()
  return socket
}

/** `greetings`: what the connections say first; each then says `piece` for as long as someone reads. */
export function floodLines(path: string, greetings: readonly string[], piece: Buffer): Flood {
  let over = false
  const sockets = greetings.map((greeting) => pour(path, greeting, piece, () => over))
  return () => {
    over = true
    for (const socket of sockets) socket.destroy()
  }
}

/** As many at a time, each as soon as the one before has ended. */
export function floodConnections(path: string, atOnce: number): Flood {
  let over = false
  const again = (): void => {
    if (over) return
    const socket = connect(path)
    socket.on('error', () => socket.destroy())
    socket.once('connect', () => socket.write('nonsense\n'))
    socket.resume()
    socket.once('close', () => setTimeout(again, 2))
  }
  for (let n = 0; n < atOnce; n++) again()
  return () => void (over = true)
}
