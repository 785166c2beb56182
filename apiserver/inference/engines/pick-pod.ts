import { scorePair } from './affinity.ts'

// A pod may have a quarter more requests than the least busy one, as in consistent hashing with bounded loads
// (Mirrokni, Thorup and Zadimoghaddam, 2016). It may have one more in any case, so that a few requests keep their pod
// too.
const maxLoadRatio = 1.25
const freeRequests = 1

/** What is known about a pod that a request may go to. */
export interface PodLoad {
  /** the unanswered sequences that this process has sent to it */
  inFlight: number
  /** how many of them it has room for */
  maxInFlight: number
  /** the hash of its name */
  hash: number
  /** whether it has recently answered for the request's adapter */
  hasAdapter: boolean
}

/**
 * Chooses the pod for a request. Undefined if there is none. Full pods come last. Only pods with little more than the
 * least load are considered. Among these, pods that have the adapter come first. The score of pod and prefix decides
 * between the rest (rendezvous hashing), so that a pod that comes or goes moves no requests between the others.
 */
export function pickPod<T extends PodLoad>(pods: readonly T[], prefixHash: number): T | undefined {
  const free = pods.filter(({ inFlight, maxInFlight }) => inFlight < maxInFlight)
  const open = free.length > 0 ? free : pods
  const leastLoad = Math.min(...open.map(({ inFlight }) => inFlight))
  const quiet = open.filter(({ inFlight }) => inFlight <= leastLoad * maxLoadRatio + freeRequests)
  const warm = quiet.filter(({ hasAdapter }) => hasAdapter)
  return findBest(warm.length > 0 ? warm : quiet, prefixHash)
}

function findBest<T extends PodLoad>(pods: readonly T[], prefixHash: number): T | undefined {
  const scores = pods.map(({ hash }) => scorePair(prefixHash, hash))
  return pods[scores.indexOf(Math.max(...scores))]
}
