import type { IssuerKeys } from './issuer-keys.ts'

/** Whether this server can do its work. */
export interface Readiness {
  isMigrated: () => boolean
  keys: Pick<IssuerKeys, 'get'>
}

/** Explains why the reports of pods cannot be taken; undefined if they can. Tries to read the issuer's keys. */
export async function explainNotReady({ isMigrated, keys }: Readiness): Promise<string | undefined> {
  if (!isMigrated()) return 'the database is not migrated yet'
  return keys.get().then(
    () => undefined,
    (error: Error) => error.message,
  )
}
