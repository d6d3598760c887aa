// Docker has no room for an image: see what takes it, delete what no container uses, or move the store.
import type { Piece } from './plan.ts'

/** A row of `docker system df`: how many there are, in use, their size and what deleting would free. */
const row = (text: string, name: string): string | undefined =>
  new RegExp(`^${name}\\s{1,40}\\d{1,6}\\s{1,40}\\d{1,6}\\s{1,40}\\S{1,12}\\s{1,40}(\\S{1,12})`, 'm').exec(text)?.[1]

export function imageStore(text: string, desktop: boolean): readonly Piece[] {
  const [images, cache] = [row(text, 'Images'), row(text, 'Build Cache')]
  return [
    images !== undefined
      ? !desktop && { text: "See how full the file system of Docker's data root is.", command: 'df -h /var/lib/docker' }
      : desktop
        ? { text: 'See what images, containers and build cache take.', command: 'docker system df' }
        : {
            text: "See what images, containers and build cache take, and how full the file system of Docker's data root is.",
            command: 'docker system df; df -h /var/lib/docker',
          },
    images !== '0B' && {
      text: 'Delete images that no container uses. They must be pulled or built again.',
      command: 'docker image prune --all',
      destroys: true,
    },
    cache !== '0B' && { text: 'Delete the build cache: the next builds start from nothing.', command: 'docker builder prune', destroys: true },
    {
      text: desktop
        ? 'Or enlarge the virtual disk of Docker Desktop (Settings, Resources).'
        : "Or move Docker's data root to a larger disk (data-root in /etc/docker/daemon.json).",
    },
  ]
}
