// The views in the order of the navigation: one line each; all but the overview are files of their own, fetched when they are opened.
import { Overview } from './overview/view.tsx'
import type { View } from './feature.ts'

export const VIEWS: readonly View[] = [
  { id: '', label: 'Overview', key: 'o', load: () => Promise.resolve(Overview) },
  { id: 'gpus', label: 'GPU', under: '', load: async () => (await import('./gpus/view.tsx')).Gpu },
  { id: 'jobs', label: 'Jobs', key: 'j', load: async () => (await import('./jobs/view.tsx')).Jobs },
  { id: 'waste', label: 'Idle and lost GPU time', under: 'jobs', load: async () => (await import('./waste/view.tsx')).Waste },
  { id: 'servers', label: 'Servers', key: 's', load: async () => (await import('./servers/view.tsx')).Servers },
  { id: 'incidents', label: 'Incidents', key: 'i', load: async () => (await import('./incidents/view.tsx')).Incidents },
  { id: 'allocator', label: 'Allocator', key: 'a', load: async () => (await import('./allocator/view.tsx')).Allocator },
  { id: 'explain', label: 'Explain', key: 'e', load: async () => (await import('./explain/view.tsx')).Explain },
  { id: 'doctor', label: 'Doctor', key: 'd', load: async () => (await import('./doctor/view.tsx')).Doctor },
  { id: 'fit', label: 'Fit', key: 'f', load: async () => (await import('./fit/view.tsx')).Fit },
  { id: 'hosts', label: 'Hosts', key: 'm', load: async () => (await import('./hosts/view.tsx')).Hosts },
  { id: 'agent', label: 'Agent', key: 'h', load: async () => (await import('./agent/view.tsx')).Agent },
]
