// Docker has no room for an image: see what takes it, delete what no container uses, or move the store.
import type { Piece } from './plan.ts'

/** A row of `docker system df`: how many there are, in use, their size and what deleting would free. */
const row = (text: string, name: string): string | undefined =>
  new RegExp(`^${name}\\s{1,40}\\d{1,6}\\s{1,40}\\d{1,6}\\s{1,40}\\S{1,12}\\s{1,40}(\\S{1,12})`, 'm').exec(text)?.[1]

/** The image that Docker was pulling. */
export function pulledImage(text: string): string | undefined {
  const [, tag, repository] = /^([\w][\w.-]{0,80}): Pulling from ([\w./-]{3,120})\s*$/m.exec(text) ?? []
  return repository === undefined ? undefined : `${repository}:${tag}`
}

export function imageStore(text: string, desktop: boolean): readonly Piece[] {
  // Docker's documentation of the devicemapper storage driver: the file system of each image and container has one size, 10 GB by default.
  const base = /Storage Driver: devicemapper[^]{0,400}?Base Device Size: ([\d.]{1,8}) ?GB/.exec(text)?.[1]
  const [images, cache] = [row(text, 'Images'), row(text, 'Build Cache')]
  return [
    base !== undefined && {
      text: `The storage driver devicemapper gives each image and container ${base} GB, whatever the disk has: change to overlay2 ("storage-driver" in /etc/docker/daemon.json; images must be pulled again), or raise dm.basesize.`,
      command: 'docker info | grep -E "Storage Driver|Base Device Size"',
    },
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
