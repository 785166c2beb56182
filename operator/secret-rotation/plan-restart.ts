// The kubelets of other nodes update the files of their pods within about two minutes. Until then, another operator that
// has become the leader sees the values of before, and must not take them for newer ones.
const settleMs = 180_000

/** What is known of the Secrets that the pods of a Deployment have read. */
export interface RestartFacts {
  /** The digest that an operator recorded on the Deployment. */
  recorded: string | undefined
  /** When pods were last replaced for another digest. */
  restartedAt: string | undefined
  /** The digests of now, and of when this process started. */
  digest: string
  digestAtStart: string
  now: Date
}

/** Plans whether to replace the pods, or only to record what they have read. Undefined: neither. */
export function planRestart(facts: RestartFacts): 'record' | 'restart' | undefined {
  const { recorded, restartedAt, digest, digestAtStart, now } = facts
  // The pods of a new Deployment started with this process.
  if (recorded === undefined && digest === digestAtStart) return 'record'
  if (recorded === digest) return undefined
  const isSettled = !(now.getTime() - Date.parse(restartedAt ?? '') < settleMs)
  return isSettled ? 'restart' : undefined
}
