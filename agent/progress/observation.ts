// What one line of a log says of a job's progress. Absent is what the line does not say.

export type RateOf = 'step' | 'sample' | 'token'
export type Rate = {
  /** As printed, in `unit`. */
  readonly value: number
  /** `it/s`, `s/it`, `ms/step`, `tokens/s` … */
  readonly unit: string
  readonly of: RateOf
  /** The same as seconds for one step, sample or token; undefined where nothing is done (0 tokens a second). */
  readonly secondsEach: number | undefined
}

export type Phase = 'loading' | 'downloading' | 'preparing' | 'training' | 'evaluating' | 'saving' | 'serving'

export type Observation = {
  /** Lines of one statement share it, so that their figures can be compared. */
  readonly shape: string
  readonly form: 'bar' | 'record' | 'epoch' | 'plan'
  readonly title?: string
  readonly phase?: Phase
  readonly step?: number
  /** Counts what is gathered for a step, by its name: environments' steps, episodes. */
  readonly stepIsAside?: boolean
  /** A counter without a name, beside no rate of steps. */
  readonly stepIsBare?: boolean
  readonly total?: number
  readonly epoch?: number
  readonly epochs?: number
  readonly loss?: number
  /** An average of several steps, by its name. */
  readonly lossIsMean?: boolean
  /** The loss of one part, by its name: the whole is elsewhere, if anywhere. */
  readonly lossIsPart?: boolean
  readonly gradNorm?: number
  readonly learningRate?: number
  readonly rate?: Rate
  /** A time that nothing names: perhaps that of several steps. */
  readonly rateIsLoose?: boolean
  /** Rates beside the one that says most. */
  readonly samplesRate?: number
  readonly tokensRate?: number
  readonly etaSeconds?: number
  /** A share of the whole, 0 to 1, where the line counts in percent. */
  readonly done?: number
  readonly elapsedSeconds?: number
  /** How long the epoch took, on a line that counts epochs alone. */
  readonly epochSeconds?: number
  /** Figures that only a training prints (learning rate, norm of the gradient, loss of a part). */
  readonly metrics: number
  /** The shape alone says that it is the progress of a training: rounds of boosting, losses of several parts. */
  readonly sure?: true
  /** Its words came but once, or speak of requests and bytes: a step's name alone says nothing here. */
  readonly loose?: true
  /** Speaks of requests and bytes. */
  readonly foreign?: true
  /** Has a figure that could be a result. */
  readonly decimals?: true
  /** How often the learner saw the counter rise; absent where its name says that it counts. */
  readonly risen?: number
  /** When the line was written, in seconds, where the line says it; comparable within one log only. */
  readonly at?: number
}
