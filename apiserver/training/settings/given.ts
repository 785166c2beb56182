/** The settings that were really given: an explicit null counts as absent, because defaults must apply to it. */
export function pickGiven(config: object | null | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config ?? {}).filter(([, value]) => value !== null && value !== undefined))
}
