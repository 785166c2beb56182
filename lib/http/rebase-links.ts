/**
 * Rewrites the links of an HTML page, which begin with `./`, for its address: they lead to the root of the server. A proxy may
 * have removed a path that the browser sees and the server does not. The links stay below that path.
 */
export function rebaseLinks(html: string, path: string): string {
  const root = '../'.repeat(path.split('/').length - 2) || './'
  return html.replaceAll(/((?:src|href)=")\.\//g, (_, beginning: string) => beginning + root)
}
