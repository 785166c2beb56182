import { setTimeout as delay } from 'node:timers/promises'

interface RepeatOptions {
  /** the pause after each time */
  pauseMs: number | (() => number)
  /** whether a pause comes before the first time too */
  pauseFirst?: boolean
  /** ends the repetition; work that runs is not interrupted */
  signal: AbortSignal
  /** called with what the work throws */
  onError: (error: unknown) => void
}

/** Does `work` again and again, never twice at a time. Resolves after the end. */
export async function repeat(work: () => Promise<unknown>, options: RepeatOptions): Promise<void> {
  const { pauseMs, signal, onError } = options
  const pause = () => delay(typeof pauseMs === 'number' ? pauseMs : pauseMs(), undefined, { signal }).catch(() => {})
  if (options.pauseFirst) await pause()
  while (!signal.aborted) {
    await work().catch(onError)
    await pause()
  }
}
