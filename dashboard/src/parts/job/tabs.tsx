// What is to be seen of jobs: themselves, and the GPU time that they held and did not use.
import { hrefOf } from '../route.ts'

const TABS = [
  { id: 'jobs', label: 'Jobs' },
  { id: 'waste', label: 'Idle and lost GPU time' },
] as const

export const JobTabs = ({ here }: { readonly here: (typeof TABS)[number]['id'] }) => (
  <nav class="parts" aria-label="Jobs">
    {TABS.map(({ id, label }) => (
      <a key={id} href={hrefOf(id)} aria-current={id === here ? 'page' : undefined}>
        {label}
      </a>
    ))}
  </nav>
)
