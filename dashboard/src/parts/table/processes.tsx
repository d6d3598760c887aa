// Processes that hold GPU memory, one row each over all GPUs they use.
import { indexRanges } from '../../../../agent/text/grammar.ts'
import { roughSpan } from '../../../../agent/text/span.ts'
import { Breakable } from '../breakable.tsx'
import { jobHref } from '../job/links.ts'
import { processes } from '../live/listed.ts'
import { views } from '../live/state.ts'
import type { ProcessView } from '../live/rows.ts'
import { DASH, memory, dotted, percent } from '../../text/format.ts'
import { DataTable, type Column } from './table.tsx'
import { words } from '../gpu/found.ts'
import { hasWords } from '../live/find.ts'
import { byGpuColumn } from './holdings.tsx'

const PROCESS_TYPES: Readonly<Record<string, string>> = { C: 'compute', G: 'graphics', M: 'MPS', 'C+G': 'compute, graphics' }

export const typeText = ({ type }: Pick<ProcessView, 'type'>): string => (type === undefined ? DASH : (PROCESS_TYPES[type] ?? type))

/** A command line is long: two lines of it, all of it under the pointer. */
export const Named = ({ view: { process, command } }: { readonly view: Pick<ProcessView, 'process' | 'command'> }) => (
  <span class="named-text">
    <span class="name">{process}</span>
    {command !== undefined && (
      <span class="sub command-line" title={command}>
        {command}
      </span>
    )}
  </span>
)
const ageText = ({ age }: Pick<ProcessView, 'age'>): string => (age === undefined ? '' : roughSpan(age))
/** What is known of it beside its memory, on one line: user, kind, age, how busy it keeps its GPU. */
export const whoText = (view: Pick<ProcessView, 'user' | 'type' | 'age' | 'busy'>): string =>
  dotted([
    view.user,
    typeText(view),
    view.age === undefined ? undefined : `running ${ageText(view)}`,
    view.busy === undefined ? undefined : `${percent(view.busy)} busy`,
  ])

/** Of a process, in each table of processes. */
export const PROCESS_COLUMNS: readonly Column<ProcessView>[] = [
  {
    id: 'process',
    label: 'Process',
    key: (view) => view.process,
    shows: (view) => `${view.process} ${view.command ?? ''}`,
    cell: (view) => <Named view={view} />,
  },
  { id: 'pid', label: 'PID', numeric: true, key: (view) => view.pid, shows: (view) => String(view.pid), cell: (view) => view.pid },
  {
    id: 'owner',
    label: 'Belongs to',
    key: (view) => view.owner,
    shows: (view) => view.owner ?? '',
    cell: (view) => (
      <a class={view.owner === undefined ? 'faint' : 'name'} href={jobHref(view.job)}>
        <Breakable text={view.owner ?? 'host'} />
      </a>
    ),
  },
  { id: 'user', label: 'User', spare: true, key: (view) => view.user, shows: (view) => view.user ?? '', cell: (view) => view.user ?? DASH },
  { id: 'age', label: 'Age', numeric: true, spare: true, key: (view) => view.age, shows: ageText, cell: (view) => ageText(view) || DASH },
  {
    id: 'busy',
    label: 'Busy',
    numeric: true,
    spare: true,
    key: (view) => view.busy,
    shows: (view) => (view.busy === undefined ? '' : percent(view.busy)),
    cell: (view) => percent(view.busy),
  },
  { id: 'type', label: 'Kind', key: (view) => view.type, shows: typeText, cell: typeText },
]

const memoryText = (view: ProcessView): string => memory(view.gpuBytes)

const COLUMNS: readonly Column<ProcessView>[] = [
  ...PROCESS_COLUMNS,
  { id: 'gpu', label: 'GPU memory', numeric: true, key: (view) => view.gpuBytes, shows: memoryText, cell: memoryText },
  byGpuColumn(),
]

/** A table that looks whole must not leave out a GPU in silence. */
export const unreadNote = (silent: readonly number[]): string | undefined =>
  silent.length === 0
    ? undefined
    : silent.length === 1
      ? `GPU ${indexRanges(silent)} is not read: its processes are missing here.`
      : `GPUs ${indexRanges(silent)} are not read: their processes are missing here.`

/** Those that cannot be read, and of which no process is listed. */
function unreadGpus(): readonly number[] {
  const listed = new Set(processes.value.flatMap(({ holdings }) => holdings.map(({ index }) => index)))
  return (views.value ?? []).flatMap(({ trouble, index }) => (trouble === undefined || listed.has(index) ? [] : [index]))
}

export function ProcessTable() {
  return (
    <DataTable
      id="processes"
      title="GPU processes"
      columns={COLUMNS}
      rows={processes.value.filter(({ process, pid, owner, user, command }) => hasWords(words.value, [process, pid, owner, user, command]))}
      rowKey={(view) => view.key}
      sort={{ column: 'gpu', descending: true }}
      empty={words.value.length > 0 ? 'No process fits the filter.' : 'No process holds GPU memory.'}
      note={unreadNote(unreadGpus())}
    />
  )
}
