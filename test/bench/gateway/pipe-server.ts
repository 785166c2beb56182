import { Agent, createServer, request as ask } from 'node:http'
import { enginePort } from '../../../crds/engine-address.ts'

/** node pipe-server.ts PORT ENGINE_HOST: the minimal work of Node between a client and an engine. */
const [port, host] = process.argv.slice(2) as [string, string]
const agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: 2_000 })

const server = createServer((request, response) => {
  const { method, url: path, headers } = request
  const upstream = ask({ agent, host, port: enginePort, method, path, headers })
  upstream.on('response', (reply) => {
    response.writeHead(reply.statusCode!, reply.headers)
    reply.pipe(response)
  })
  upstream.on('error', () => response.destroy())
  response.on('close', () => {
    if (!response.writableFinished) upstream.destroy()
  })
  request.pipe(upstream)
})
server.keepAliveTimeout = 600_000
server.listen(Number(port), '127.0.0.1')
