/**
 * A check that all callers share. One run at a time; its result is reused for `keepMs`. So the parts are not checked
 * more often, however many callers there are. A failed run is not reused.
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
