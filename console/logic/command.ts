/** A request of the API that shows what a screen shows. */
export interface ShownRequest {
  method?: string
  /** The path with its query. */
  address: string
  body?: unknown
}

const quote = (text: string) => (/^[\w@%+=:,./$-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** Writes the request for a shell. The key is a variable, so that it never stands on a screen. */
export function writeCurl(origin: string, { method = 'GET', address, body }: ShownRequest): string {
  const parts = ['curl', '-H "Authorization: Bearer $TRAINYARD_API_KEY"']
  if (method !== 'GET') parts.push(`-X ${method}`)
  if (body !== undefined) parts.push(`-H 'Content-Type: application/json' -d ${quote(JSON.stringify(body))}`)
  parts.push(quote(`${origin}${address}`))
  return parts.join(' ')
}

/** Writes the request for Python's standard library. */
export function writePython(origin: string, { method = 'GET', address, body }: ShownRequest): string {
  const data = body === undefined ? '' : `, data=json.dumps(${writeLiteral(body)}).encode()`
  return [
    'import json, os, urllib.request',
    `request = urllib.request.Request(${JSON.stringify(`${origin}${address}`)}${data}, method="${method}", headers={`,
    '    "Authorization": "Bearer " + os.environ["TRAINYARD_API_KEY"], "Content-Type": "application/json"})',
    'print(json.load(urllib.request.urlopen(request)))',
  ].join('\n')
}

/** JSON is Python, except for three words. */
function writeLiteral(value: unknown): string {
  const words: Record<string, string> = { true: 'True', false: 'False', null: 'None' }
  return JSON.stringify(value).replaceAll(/"(?:[^"\\]|\\.)*"|true|false|null/g, (found) => words[found] ?? found)
}
