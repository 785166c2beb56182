import { AsyncLocalStorage } from 'node:async_hooks'
import type { Turn } from './fair-semaphore.ts'

// No entity has such names.
const ofServer: Turn = { key: '(server)', weight: 1 }
const ofUnknown: Turn = { key: '(unknown)', weight: 1 }

/** Counts the bytes of an answer. Both functions throw if it has no room for them. */
export interface AnswerBytes {
  /** Counts bytes that are read for the answer. */
  read: (bytes: number) => void
  /** Counts bytes that the answer consists of. */
  write: (bytes: number) => void
}

/** What is known about a request, for everything that is done for it. */
export interface RequestScope {
  /** All log lines of the request have it. */
  requestId?: string
  /** The turn of the request's entity, as soon as its key is known. */
  turn?: Turn
  /** The answer that the work is for. Without it, nothing counts as bytes of one. */
  answer?: AnswerBytes | undefined
}

// Work that belongs to no request has no scope.
const scopes = new AsyncLocalStorage<RequestScope | undefined>()

/** Runs the work of a request. */
export function runRequest<T>(requestId: string, work: () => T): T {
  return scopes.run({ requestId }, work)
}

/** The request that the running work belongs to. */
export function findRequest(): RequestScope | undefined {
  return scopes.getStore()
}

/** Whatever the running request does from now on is in this turn. */
export function setTurn(turn: Turn): void {
  const scope = scopes.getStore()
  if (scope) scope.turn = turn
}

/** The turn of the running work: of the request's entity, of requests whose key is not known yet, or of the server itself. */
export function currentTurn(): Turn {
  const scope = scopes.getStore()
  return scope ? (scope.turn ?? ofUnknown) : ofServer
}

/** Runs work for an entity, whichever request starts it. */
export function runInTurn<T>(turn: Turn, work: () => T): T {
  return scopes.run({ ...scopes.getStore(), turn }, work)
}

/** Counts what `work` reads from Postgres as bytes of an answer. With undefined, nothing counts. */
export function runForAnswer<T>(answer: AnswerBytes | undefined, work: () => T): T {
  return scopes.run({ ...scopes.getStore(), answer }, work)
}

/** Runs work for several requests or for none, such as a timer that the first request starts. */
export function runShared<T>(work: () => T): T {
  return scopes.run(undefined, work)
}
