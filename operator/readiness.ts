import type { LeaseState } from '../lib/kube/leader.ts'

/** What a replica has got so far. */
export interface ReplicaState {
  /** Why it must not work with the custom resource definitions; undefined if it can. */
  crdTrouble: string | undefined
  isMigrated: boolean
  /** What must be changed so that the artifact store works; undefined if it works, or is only unavailable. */
  storeTrouble: string | undefined
  lease: LeaseState
  /** Why a kind is not listed; undefined if all kinds are. */
  watchTrouble: string | undefined
  /** Why it must not work in its namespace; undefined if it works there. */
  namespaceTrouble: string | undefined
}

/** Explains why a replica can neither lead nor stand by; undefined if it can. */
export function explainNotReady(state: ReplicaState): string | undefined {
  const { crdTrouble, isMigrated, storeTrouble, lease, watchTrouble, namespaceTrouble } = state
  if (crdTrouble !== undefined) return crdTrouble
  if (!isMigrated) return 'the database is not migrated yet'
  if (storeTrouble !== undefined) return storeTrouble
  if (lease === 'held') return undefined
  return lease === 'unknown'
    ? 'kube-apiserver has not answered who holds the Lease'
    : (watchTrouble ?? namespaceTrouble)
}
