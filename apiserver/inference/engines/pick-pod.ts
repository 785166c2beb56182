import { scorePair } from './affinity.ts'

// A pod may have a quarter more requests than the least busy one, as consistent hashing with bounded loads allows
// (Mirrokni, Thorup and Zadimoghaddam, 2016), and one more, so that few requests keep their pod too.
const maxLoadRatio = 1.25
const freeRequests = 1

/** What is known of a pod that a request may go to. */
export interface PodLoad {
  /** the requests that this process has sent it and that are not answered */
  inFlight: number
  /** how many it takes from this process */
  maxInFlight: number
  /** the hash of its name */
  hash: number
  /** whether it has answered for the request's adapter lately */
  hasAdapter: boolean
}

/**
 * The pod for a request, undefined when all are full. Of the pods with little more than the least load it is one that has
 * the adapter, and among several the one with the highest score for the request's prefix (rendezvous hashing): a pod that
 * comes or goes moves no requests between the others.
 */
export function pickPod<T extends PodLoad>(pods: readonly T[], prefixHash: number): T | undefined {
  const open = pods.filter(({ inFlight, maxInFlight }) => inFlight < maxInFlight)
  const leastLoad = Math.min(...open.map(({ inFlight }) => inFlight))
  const quiet = open.filter(({ inFlight }) => inFlight <= leastLoad * maxLoadRatio + freeRequests)
  const warm = quiet.filter(({ hasAdapter }) => hasAdapter)
  return findBest(warm.length > 0 ? warm : quiet, prefixHash)
}

function findBest<T extends PodLoad>(pods: readonly T[], prefixHash: number): T | undefined {
  const scores = pods.map(({ hash }) => scorePair(prefixHash, hash))
  return pods[scores.indexOf(Math.max(...scores))]
}
