// Lines by which a job says that it has saved its state: what comes after the last of them is lost when it crashes.

/** Of Hugging Face, Lightning, DeepSpeed, Megatron, torchtitan, Keras and of the many programs that print such a line themselves. */
export const PROGRESS_LITERALS: readonly string[] = [
  'Saving model checkpoint',
  'Saving checkpoint',
  'saving checkpoint',
  'Saved checkpoint',
  'saved checkpoint',
  'Saving the checkpoint',
  'Saving latest checkpoint',
  'Checkpoint saved',
  'checkpoint saved',
  'Checkpoint written',
  'Wrote checkpoint',
  'snapshot saved at',
  'Model weights saved in',
  'Saving current state to',
  'saving model to ',
  'Saving model to ',
  'Saved model ',
  'Model saved to',
  'model saved to',
  '[Torch] Saved ',
  'Saved state dict',
  'Saved state_dict',
]

/** A save that failed saved nothing. */
const NOT_SAVED = /\b(?:fail|failed|cannot|could not|unable|skip|skipping|will be)\b/i

export const isProgressMark = (text: string): boolean => PROGRESS_LITERALS.some((literal) => text.includes(literal)) && !NOT_SAVED.test(text)
