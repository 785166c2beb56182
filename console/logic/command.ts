/** A request of the API that shows what a screen shows. */
export interface ShownRequest {
  method?: string
  /** The path with its query. */
  address: string
  body?: unknown
  /** The form of the answer, if it is not the usual one. */
  accept?: string
}

const quote = (text: string) => (/^[\w@%+=:,./$-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** Writes the request for a shell. The key is a variable, so that it never stands on a screen. */
export function writeCurl(origin: string, { method = 'GET', address, body, accept }: ShownRequest): string {
  const parts = ['curl', '-H "Authorization: Bearer $TRAINYARD_API_KEY"']
  // An answer that goes on is shown as it comes.
  if (accept !== undefined) parts.push(`-N -H 'Accept: ${accept}'`)
  if (method !== 'GET') parts.push(`-X ${method}`)
  if (body !== undefined) parts.push(`-H 'Content-Type: application/json' -d ${quote(JSON.stringify(body))}`)
  parts.push(quote(`${origin}${address}`))
  return parts.join(' ')
}

// Longer names have digests as the values of labels.
const labelPattern = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/

/** The command that lists the resources of a project. */
export function listResources(kinds: string, { entity, project }: { entity: string; project: string }): string {
  const labels = [
    ['trainyard.dev/entity', entity],
    ['trainyard.dev/project', project],
  ] as const
  const set = labels.flatMap(([name, value]) => (labelPattern.test(value) ? [`${name}=${value}`] : []))
  return set.length === 0 ? `kubectl get ${kinds}` : `kubectl get ${kinds} -l ${set.join(',')}`
}

/** Writes requests for Python's standard library. */
export function writePython(origin: string, requests: readonly ShownRequest[]): string {
  const calls = requests.map(({ method = 'GET', address, body }) => {
    const values = [method, address].map((text) => JSON.stringify(text))
    return `print(call(${[...values, ...(body === undefined ? [] : [writeLiteral(body)])].join(', ')}))`
  })
  return [
    'import json, os, urllib.request',
    '',
    'def call(method, address, body=None):',
    '    data = None if body is None else json.dumps(body).encode()',
    '    headers = {"Authorization": "Bearer " + os.environ["TRAINYARD_API_KEY"], "Content-Type": "application/json"}',
    `    request = urllib.request.Request(${JSON.stringify(origin)} + address, data, headers, method=method)`,
    '    return urllib.request.urlopen(request).read().decode()',
    '',
    ...calls,
  ].join('\n')
}

/** JSON is Python, except for three words. */
function writeLiteral(value: unknown): string {
  const words: Record<string, string> = { true: 'True', false: 'False', null: 'None' }
  return JSON.stringify(value).replaceAll(/"(?:[^"\\]|\\.)*"|true|false|null/g, (found) => words[found] ?? found)
}
