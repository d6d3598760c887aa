// What a job is called: its colour, its name as a link, what it is.
import { PALETTES } from '../../parts/chart/palette.ts'
import { colours } from '../../parts/live/state.ts'
import { KIND_WORDS, type JobName } from '../../parts/job/identity.ts'
import type { Job } from './running.ts'
import { hrefOf, route } from '../../parts/route.ts'
import { theme } from '../../parts/theme.ts'
import { slurm } from './past.ts'
import { aboutSlurm, fullTitleOf, titleOf } from './slurm.ts'

export function colourOf({ colourKey }: Pick<JobName, 'colourKey'>): string {
  const { containers, host } = PALETTES[theme.value]
  return containers[colours.slot(colourKey) % containers.length] ?? host
}

export const Swatch = ({ job }: { readonly job: Pick<JobName, 'colourKey'> }) => <span class="swatch container" style={{ '--swatch': colourOf(job) }} />

/** The same range on the job's own page. */
export const jobHref = (key: string): string => hrefOf('jobs', [key], { range: route.value.params.get('range') })

/** Above what `describe` says of it. */
export const title = (job: JobName): string => titleOf(job, slurm.value)
/** Where it is alone. */
export const fullTitle = (job: JobName): string => fullTitleOf(job, slurm.value)

/** Image and project of its containers; number, user, account and partition of a Slurm job, else what kind of thing it is. */
export function describe(job: Job, brief = false): string {
  const { kind, containers } = job
  const [first] = containers
  const images = [...new Set(containers.flatMap(({ row }) => (row.image === undefined || row.image === '' ? [] : [row.image])))]
  if (kind === 'slurm') return aboutSlurm(job, slurm.value, brief).join(' · ')
  const parts = [kind === 'container' && images.length > 0 ? undefined : KIND_WORDS[kind], images.join(', '), first?.row.compose_project]
  return parts.filter((part) => part !== undefined && part !== '').join(' · ')
}
