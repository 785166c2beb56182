/** The cookie of a browser's session. */
export interface SessionCookie {
  name: string
  value: string
  url: string
}

/** Logs in with a key, as the console does. */
export async function logIn(url: string, key: string): Promise<SessionCookie> {
  const response = await fetch(`${url}/v1/preview/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: key }),
  })
  const [, name, value] = /^(\w+)=([^;]+)/.exec(response.headers.get('set-cookie') ?? '') ?? []
  if (name === undefined || value === undefined) throw new Error(`no session: ${response.status}`)
  return { name, value, url }
}
