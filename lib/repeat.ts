import { setTimeout as delay } from 'node:timers/promises'

interface RepeatOptions {
  /** The pause after each run. */
  pauseMs: number | (() => number)
  /** Whether to pause before the first run too. */
  pauseFirst?: boolean
  /** Ends the repetition. Running work is not interrupted. */
  signal: AbortSignal
  /** Called with errors of the work. */
  onError: (error: unknown) => void
}

/** Runs `work` repeatedly, one run at a time. Resolves after the end. */
export async function repeat(work: () => Promise<unknown>, options: RepeatOptions): Promise<void> {
  const { pauseMs, signal, onError } = options
  const pause = () => delay(typeof pauseMs === 'number' ? pauseMs : pauseMs(), undefined, { signal }).catch(() => {})
  if (options.pauseFirst) await pause()
  while (!signal.aborted) {
    await work().catch(onError)
    await pause()
  }
}
