// Keys of this service. SDKs send the command line of a run's program, which may contain one.
const keys = /\bty_[A-Za-z0-9]{20,}/g

/** Replaces API keys in a text by asterisks, as many as there were characters. */
export function maskKeys(text: string): string {
  return text.replaceAll(keys, (key) => '*'.repeat(key.length))
}
