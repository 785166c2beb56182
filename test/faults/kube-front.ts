import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { loadKubeAccess } from '../../lib/kube/access.ts'
import type { UnsentOptions } from '../../lib/kube/credentials.ts'
import { closeWithConnections, openLocally } from '../support/local-server.ts'
import type { ApiStack } from '../support/services.ts'

/** A way to the real kube-apiserver on which a test makes faults. */
export interface KubeFront {
  /** A file for KUBECONFIG. */
  kubeconfig: string
  /** Every request for this plural is a 403, and its watches end, as after a change of Roles. Undefined: none. */
  forbid: (plural: string | undefined) => void
  /** Nothing more arrives from the watches that are open now, and they do not end. */
  silenceWatches: () => void
  /** What is open breaks, and nobody gets a connection until `up`, as while kube-apiserver restarts. */
  down: () => Promise<void>
  up: () => Promise<void>
  close: () => Promise<void>
}

/** An answer that is under way. */
interface Exchange {
  url: string
  answer: ServerResponse
  from: IncomingMessage
}

/** Opens one on a free port of 127.0.0.1, without TLS. */
export async function openKubeFront({ kubeconfig }: Pick<ApiStack, 'kubeconfig'>): Promise<KubeFront> {
  const access = loadKubeAccess({ KUBECONFIG: kubeconfig })
  const watches = new Set<Exchange>()
  let forbidden: string | undefined
  const isForbidden = (url: string) => forbidden !== undefined && url.split('?')[0]!.split('/').includes(forbidden)

  const server = createServer((incoming, answer) => {
    const { method = 'GET', url = '' } = incoming
    const { host: _, ...headers } = incoming.headers
    if (isForbidden(url)) {
      const body = { kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403, message: `${url} is forbidden` }
      answer.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      return
    }
    void (async () => {
      const options: UnsentOptions = { method, headers }
      await access.authenticate(options)
      const outgoing = request(new URL(url, access.server), options, (from) => {
        // A watch answers before it has anything to tell.
        answer.writeHead(from.statusCode!, from.headers).flushHeaders()
        from.pipe(answer)
        from.on('error', () => answer.destroy())
        if (!url.includes('watch=true')) return
        const exchange = { url, answer, from }
        watches.add(exchange)
        answer.on('close', () => watches.delete(exchange))
      })
      outgoing.on('error', () => answer.destroy())
      answer.on('close', () => outgoing.destroy())
      incoming.pipe(outgoing)
    })()
  })
  const down = () => closeWithConnections(server)
  const port = await openLocally(server)
  const folder = await mkdtemp(path.join(tmpdir(), 'kube-front-'))
  const file = path.join(folder, 'kubeconfig')
  await writeFile(file, describeContext(`http://127.0.0.1:${port}`))
  return {
    kubeconfig: file,
    forbid: (plural) => {
      forbidden = plural
      for (const { url, answer } of watches) if (isForbidden(url)) answer.destroy()
    },
    silenceWatches: () => {
      for (const { answer, from } of watches) from.unpipe(answer).resume()
    },
    down,
    up: async () => void (await openLocally(server, port)),
    close: async () => {
      if (server.listening) await down()
      await rm(folder, { recursive: true })
    },
  }
}

/** JSON is YAML. */
function describeContext(server: string): string {
  return JSON.stringify({
    'current-context': 'front',
    contexts: [{ name: 'front', context: { cluster: 'front', user: 'front' } }],
    clusters: [{ name: 'front', cluster: { server } }],
    users: [{ name: 'front', user: {} }],
  })
}
