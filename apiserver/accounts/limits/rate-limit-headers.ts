/** OpenAI's headers, which its SDKs show. */
export type RateLimitHeaders = readonly (readonly [name: string, value: string])[]

/** The headers of a limit per minute. Empty without a limit. */
export function rateLimitHeaders(
  kind: 'requests' | 'tokens',
  perMinute: number,
  { remaining, resetMs }: { remaining: number; resetMs: number },
): RateLimitHeaders {
  if (perMinute === Infinity) return []
  return [
    [`x-ratelimit-limit-${kind}`, String(perMinute)],
    [`x-ratelimit-remaining-${kind}`, String(remaining)],
    [`x-ratelimit-reset-${kind}`, presentDuration(resetMs)],
  ]
}

/** OpenAI's format: "850ms", "42s". */
function presentDuration(ms: number): string {
  return ms < 1_000 ? `${Math.ceil(ms)}ms` : `${Math.ceil(ms / 1_000)}s`
}
