import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../lib/log.ts'
import { StoreMisconfigured } from './misconfigured.ts'
import type { ArtifactStore } from './store.ts'

const pauseMs = 1_000
// A store that does not answer by then is unavailable.
const probeMs = 5_000

interface WaitOptions {
  signal: AbortSignal
  /** Gets the sentence that says what to change; undefined when the store can work. */
  onTrouble: (trouble: string | undefined) => void
}

/**
 * Waits until the store can be written, if the installation must be changed for that: a restart would not help. A store that
 * is only unavailable is not waited for, because most requests do not need it.
 */
export async function waitForStore(
  store: ArtifactStore,
  log: Logger,
  { signal, onTrouble }: WaitOptions,
): Promise<void> {
  let logged: string | undefined
  while (!signal.aborted) {
    const error = await probeStore(store)
    const trouble = error instanceof StoreMisconfigured ? error.message : undefined
    onTrouble(trouble)
    if (trouble === undefined) {
      if (error !== undefined) log.warn({ error }, 'the artifact store is not available yet')
      return
    }
    if (trouble !== logged) log.error({ trouble }, 'waiting for the artifact store')
    logged = trouble
    await delay(pauseMs, undefined, { signal }).catch(() => {})
  }
}

async function probeStore(store: ArtifactStore): Promise<unknown> {
  const late = new AbortController()
  const silent = delay(probeMs, new Error(`the store has not answered for ${probeMs / 1_000} s`), {
    signal: late.signal,
  })
  const probed = store.probe().then(
    () => undefined,
    (error: unknown) => error,
  )
  try {
    return await Promise.race([probed, silent])
  } finally {
    late.abort()
  }
}
