/** Counts the bytes of an answer. Both functions throw if it has no room for them. */
export interface AnswerBytes {
  /** Counts bytes that are read for the answer. */
  read: (bytes: number) => void
  /** Counts bytes that the answer consists of. */
  write: (bytes: number) => void
}
