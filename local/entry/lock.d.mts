/**
 * Runs `work` while holding the lock of this name, so that no other process on the machine does the same at that time.
 * `onWait` is called once when somebody else holds it.
 */
export function withLock<T>(
  name: string,
  work: () => Promise<T>,
  options?: { onWait?: () => void; signal?: AbortSignal },
): Promise<T>
