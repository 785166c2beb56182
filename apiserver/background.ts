import type { ArtifactStore } from '../artifacts/store/store.ts'
import type { Logger } from '../lib/log.ts'
import { repeat } from '../lib/repeat.ts'
import type { LastUsedTracker } from './accounts/keys/last-used.ts'
import type { RevocableResponses } from './accounts/keys/revocable-responses.ts'
import type { UsageLedger } from './accounts/usage/ledger.ts'

// A killed process loses at most the usage of chats in this time.
const flushMs = 1_000
// The maximum time that a stream continues after the end of its key, without the time of the query.
const revocationMs = 750
// Removes spooled bodies of a killed process. A body that is still being received is written to all the time, so that
// it stays.
const sweepMs = 10 * 60_000
const abandonedMs = 6 * 60 * 60_000

interface BackgroundDeps {
  artifacts: ArtifactStore
  lastUsed: LastUsedTracker
  sessionsLastUsed: LastUsedTracker
  log: Logger
  responses: RevocableResponses
  usage: UsageLedger
}

/** Work that a server repeats. `close` ends it and writes the rest of the usage. */
export function startBackground(deps: BackgroundDeps) {
  const { artifacts, lastUsed, sessionsLastUsed, log, responses, usage } = deps
  const background = new AbortController()
  const start = (work: () => Promise<void>, pauseMs: number, failure: string) => {
    const onError = (error: unknown) => log.warn({ error }, failure)
    return repeat(work, { pauseMs, pauseFirst: true, signal: background.signal, onError })
  }
  const flush = async () => {
    await usage.flush()
    await lastUsed.flush()
    await sessionsLastUsed.flush()
  }
  const notFlushed = 'usage not written yet'
  const flushing = start(flush, flushMs, notFlushed)
  // Nothing has to wait for the end of both.
  void start(() => responses.abortRevoked(), revocationMs, 'revoked keys not looked for')
  void start(() => artifacts.sweepTemporary(abandonedMs), sweepMs, 'temporary files not swept')
  const close = async () => {
    background.abort()
    await flushing
    await flush().catch((error: unknown) => log.warn({ error }, notFlushed))
  }
  return { close }
}
