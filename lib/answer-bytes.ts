import { AsyncLocalStorage } from 'node:async_hooks'

/** Counts the bytes of an answer. Both functions throw if it has no room for them. */
export interface AnswerBytes {
  /** Counts bytes that are read for the answer. */
  read: (bytes: number) => void
  /** Counts bytes that the answer consists of. */
  write: (bytes: number) => void
}

const current = new AsyncLocalStorage<AnswerBytes | undefined>()

/** The answer that the current work is for. */
export function findAnswer(): AnswerBytes | undefined {
  return current.getStore()
}

/** Counts what `work` reads from Postgres as bytes of an answer. With undefined, nothing counts. */
export function readFor<T>(answer: AnswerBytes | undefined, work: () => T): T {
  return current.run(answer, work)
}
