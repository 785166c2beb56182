/** The origin of a URL, with an IPv6 address in brackets. */
export function buildOrigin(protocol: 'http' | 'https', host: string, port: number | string): string {
  return `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`
}
