import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'

/** A reverse proxy that has a server below a path, as an ingress that removes the path. */
export interface PathProxy {
  /** The address of the server, with the path. */
  url: string
  close: () => Promise<void>
}

/** Opens one on a free port of 127.0.0.1. It answers 404 at all other paths. */
export async function openPathProxy(target: string, path: string): Promise<PathProxy> {
  const proxy = createServer((incoming, answer) => {
    const { method, headers, url = '' } = incoming
    if (!url.startsWith(`${path}/`)) {
      answer.writeHead(404).end()
      return
    }
    const outgoing = request(new URL(url.slice(path.length), target), { method, headers }, (response) => {
      answer.writeHead(response.statusCode!, response.headers)
      pipeline(response, answer).catch(() => {})
    })
    // A client that leaves a stream ends it at the server too.
    answer.on('close', () => outgoing.destroy())
    pipeline(incoming, outgoing).catch(() => answer.destroy())
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${path}`,
    close: async () => {
      proxy.closeAllConnections()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}
