import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import type { BenchServer } from '../bench-server.ts'
import { within } from './within.ts'

const limitSeconds = 60
// As long as the console gathers changes (console/data/live.ts).
const gatherMs = 250

/** Clients that follow a project as the console does, without a browser. */
export interface Viewers {
  close: () => void
}

/**
 * Opens streams of changes. After a change, each viewer asks what a page asks then: these paths. Each has connections of
 * its own, as a browser has.
 */
export async function openViewers(
  { url, apiKey }: BenchServer,
  { count, project, paths }: { count: number; project: string; paths: readonly string[] },
): Promise<Viewers> {
  const headers = { authorization: `Bearer ${apiKey}` }
  const agents = Array.from({ length: count }, () => new Agent({ keepAlive: true, maxSockets: 6 }))
  const streams = await within(
    limitSeconds,
    'not all viewers got their stream',
    Promise.all(agents.map((agent) => follow(`${url}/v1/preview/stream?topics=project:${project}`, agent))),
  )
  return {
    close: () => {
      for (const stream of streams) stream.destroy()
      for (const agent of agents) agent.destroy()
    },
  }

  async function follow(address: string, agent: Agent): Promise<IncomingMessage> {
    const request = get(address, { headers, agent }).on('error', () => {})
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    if (response.statusCode !== 200) throw new Error(`a stream was answered by ${response.statusCode}`)
    let gathering: NodeJS.Timeout | undefined
    let asked: Promise<unknown> = Promise.resolve()
    const askAll = async () => {
      // A page gives up what it still waits for. Here it ends first, so that requests never pile up.
      await asked
      gathering = undefined
      asked = Promise.all(paths.map((path) => ask(url + path, agent)))
    }
    response.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('event: change')) gathering ??= setTimeout(() => void askAll(), gatherMs)
    })
    response.on('error', () => {})
    return response
  }

  /** Reads an answer to its end. A viewer that leaves gets none. */
  async function ask(address: string, agent: Agent): Promise<void> {
    const request = get(address, { headers, agent }).on('error', () => {})
    const [response] = (await once(request, 'response').catch(() => [])) as IncomingMessage[]
    if (response) await once(response.resume(), 'close').catch(() => {})
  }
}
