/**
 * A check that all callers share: one runs at a time, and its result is given for `keepMs` more. However many ask, the
 * parts are asked no oftener than that. One that fails is not kept.
 */
export function shareCheck<T>(
  check: () => Promise<T>,
  keepMs: number,
  now = () => performance.now(),
): () => Promise<T> {
  let latest: { result: Promise<T>; endsMs: number } | undefined
  return () => {
    if (latest && now() < latest.endsMs) return latest.result
    const started = { result: check(), endsMs: Infinity }
    latest = started
    started.result.then(
      () => (started.endsMs = now() + keepMs),
      () => (started.endsMs = 0),
    )
    return started.result
  }
}
