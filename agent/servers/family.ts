// What is known of one family of inference servers: how it is recognised, what may be asked of it, and what its answers mean.
import type { ServerFigures } from './model.ts'
import type { SeenPage } from './seen-page.ts'

/** What is known of the process that listens. */
export type Known = {
  readonly argv: readonly string[]
  readonly figures: ServerFigures
  /** Only these two latencies are wanted: to the first token and between tokens. Absent: all. */
  readonly quantilesOnly?: boolean
  /** How the same page of the same server looked before, for readers of metrics. */
  readonly seen?: SeenPage
}
/** What a reader of metrics makes use of. */
export type Asked = Pick<Known, 'quantilesOnly' | 'seen'>

export type Page = {
  /** Asked by GET, never in another way. */
  readonly path: string
  /** `rare`: once a minute. */
  readonly rate: 'scrape' | 'rare'
  /** Absent: always. */
  readonly when?: (known: Known) => boolean
  /** undefined: this is not what the page says in any version. */
  readonly read: (body: string, known: Known) => ServerFigures | undefined
}

export type Answer = { readonly body: string; readonly headers: Readonly<Record<string, string | readonly string[] | undefined>> }

export type Family = {
  readonly id: string
  readonly title: string
  /** Of the command line (words joined by blanks) of a process that listens for it. */
  readonly command: RegExp
  /** Of a command line that belongs to the family but answers nobody: its engine, runner or worker. */
  readonly helper?: RegExp
  /** Of the container's image. */
  readonly image?: RegExp
  /** Of its process, as the kernel has it: it is found by that where it holds no GPU memory, since it computes on the CPU without saying so. */
  readonly processName?: string
  /** Where it listens unless told otherwise. */
  readonly port: number
  /** With this flag it wants a key for all but these pages: without a key no other is asked. */
  readonly keyed?: { readonly flag: RegExp; readonly open: readonly string[] }
  /** The flag behind which the path stands that all of its pages are moved to. */
  readonly prefixFlag?: string
  /** One harmless GET that shows that it is this family; gives what it learns by the way. */
  readonly proof: { readonly path: string; readonly read: (answer: Answer) => ServerFigures | undefined }
  /** Others listen on the same port and answer `proof` alike: such a port is not asked when nothing but its number speaks for the family. */
  readonly proofIsWeak?: true
  readonly pages: readonly Page[]
  /** The head of its log. */
  readonly log?: (text: string) => ServerFigures
  /** Each process that holds memory for it holds another model, whose log begins with the process. */
  readonly modelPerEngine?: true
  /** A process that it starts for each model and that answers on a port of its own, named by its command line: asked for what the family itself does not tell. */
  readonly child?: { readonly command: RegExp } & Pick<Family, 'proof' | 'pages'>
  /** The process that holds the GPU is another one than the one that listens, and lives as long: when it ends, the server is dead. */
  readonly engineApart?: true
}

export const defineFamily = <const F extends Family>(family: F): F => family
