// Gives the memory of a large answer back as soon as it was read.

/**
 * The bytes of a buffer are outside of V8's heap, which sees a small object: one that outlived two small collections keeps its bytes until the next large one,
 * minutes later. Nobody may read the buffer after this. One that is part of something larger, such as Node's pool for small buffers, is left alone.
 */
export function releaseBuffer({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && byteLength > buffer.byteLength / 2) buffer.transfer(0)
}
