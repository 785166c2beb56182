import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A local hub of models, in place of the real one. */
export interface ModelHubServer {
  url: string
  /** The paths that were asked, without queries. */
  asked: string[]
  close: () => Promise<void>
}

/** Opens a hub on a free port of 127.0.0.1. `answer` answers the request for a model by its id. */
export async function openModelHub(answer: (id: string, response: ServerResponse) => void): Promise<ModelHubServer> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://hub')
    asked.push(pathname)
    const [, id] = /^\/api\/models\/(.+)\/revision\/main$/.exec(pathname) ?? []
    if (id === undefined) response.writeHead(404).end()
    else answer(id, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
