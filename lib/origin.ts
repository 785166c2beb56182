/** The origin of a URL. An IPv6 address stands in brackets there. */
export function buildOrigin(protocol: 'http' | 'https', host: string, port: number | string): string {
  return `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`
}
