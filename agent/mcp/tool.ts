// What a tool for assistants is: a question about one host, answered in short lines out of the agent's own API.
import * as z from 'zod'

/** GET of a path of the API, such as `/api/v1/gpus`. Throws an Error whose message says what is wrong. */
export type Ask = (path: string) => Promise<unknown>

type Declared<Shape extends z.ZodRawShape> = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: Shape
  /** What to ask for when the answer is cut. */
  readonly hint: string
  readonly run: (input: z.infer<z.ZodObject<Shape>>, ask: Ask) => Promise<readonly string[]>
}

export type Tool = Omit<Declared<z.ZodRawShape>, 'run'> & { readonly run: (given: unknown, ask: Ask) => Promise<readonly string[]> }

export function tool<Shape extends z.ZodRawShape>({ input, run, ...rest }: Declared<Shape>): Tool {
  const schema = z.object(input)
  return { ...rest, input, run: (given, ask) => run(schema.parse(given), ask) }
}
