/** The settings that were given. An explicit null counts as absent, so that the default applies. */
export function pickGiven(config: object | null | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config ?? {}).filter(([, value]) => value !== null && value !== undefined))
}
