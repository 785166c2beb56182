import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Attempt } from '../../../db/jobs/attempts.ts'
import { claimJob } from '../../../db/jobs/claims.ts'
import { queueJob } from '../../../db/jobs/enqueue.ts'
import { recordEvents } from '../../../db/jobs/reports.ts'
import { listen } from '../../../db/listen.ts'
import { outboxChannel } from '../../../db/webhooks/outbox.ts'
import { createLogger } from '../../../lib/log.ts'
import { createOutbound } from '../../../lib/outbound/outbound.ts'
import { SealingKeys } from '../../../lib/sealing/sealing-keys.ts'
import { WebhookDeliverer } from '../../../operator/webhooks/deliverer.ts'
import { createRest } from '../../support/rest.ts'
import { baseModel, type BenchServer } from '../bench-server.ts'
import { percentile } from '../statistics.ts'
import { readHeapKb } from './inspector.ts'
import type { Part } from './pages.ts'
import { visit, type Visit } from './visit.ts'
import { within } from './within.ts'

const log = createLogger('bench', 'silent')
const viewerCount = 50
const events = 20
// A trainer's step takes about so long.
const pauseMs = 400
const settleMs = 3_000
const limitSeconds = 60
// As long as the console gathers changes (console/data/live.ts).
const gatherMs = 250

/** What the server keeps in its heap and in buffers for a viewer that follows a project. */
export const viewers: Part = async ({ server, inspector }) => {
  const open = () => openViewers(server, { count: viewerCount, project: 'viewed', paths: [] })
  // What the first ones load is not theirs.
  const close = await open()
  close()
  const before = await readHeapKb(inspector)
  const closeThem = await open()
  const after = await readHeapKb(inspector)
  closeThem()
  return { viewer_heap_kb: (after - before) / viewerCount }
}

/** A run at work, in a page and for 49 other viewers: how long a gradient step takes to its pixels. */
export const live: Part = async ({ server, browser, cookie, data }, slowdown) => {
  await data.baseModel()
  const { name, report } = await startRun(server)
  await report()
  const stopNumbering = numberChanges(server)
  try {
    return await visit(browser, { slowdown, cookie }, async (page) => {
      await page.open(`${server.url}/${server.entity}/tests/runs/${name}`, { selector: 'figcaption b' })
      const paths = await collectPaths(page, report)
      const close = await openViewers(server, { count: viewerCount - 1, project: 'tests', paths })
      const timesMs: number[] = []
      while (timesMs.length < events) timesMs.push(await measureEvent(page, report))
      close()
      return { event_to_pixel_p95_ms: percentile(timesMs, 0.95) }
    })
  } finally {
    await stopNumbering()
  }
}

/** Runs what numbers changes in the operator's leader, so that they reach those who follow them. */
function numberChanges({ pool, databaseUrl }: BenchServer): () => Promise<void> {
  const outbound = createOutbound({ hosts: [], privateNetworks: [] })
  const deliverer = new WebhookDeliverer({ pool, log, outbound, sealingKeys: new SealingKeys([]) })
  const wake = () => deliverer.wake()
  const listener = listen(databaseUrl, [outboxChannel], { onNotify: wake, onConnect: wake }, log)
  deliverer.start()
  return async () => {
    await listener.close()
    await deliverer.close()
    await outbound.close()
  }
}

type Report = () => Promise<{ loss: string; atMs: number }>

/** A run whose job a trainer holds. Each report is a gradient step with another loss. */
async function startRun(server: BenchServer): Promise<{ name: string; report: Report }> {
  const { pool } = server
  const rest = createRest({ ...server, baseModel })
  const { id, name } = await rest.createModel()
  const message = { role: 'user', content: 'Hello.' }
  const jobId = await rest.startJob(id, [{ trajectories: [{ messages_and_choices: [message], reward: 1 }] }])
  await queueJob(pool, jobId)
  const trainer = { baseModel, podUid: randomUUID(), processId: randomUUID(), gpus: 0, holding: [] }
  const claim = await claimJob(pool, trainer)
  if (!claim) throw new Error('the job cannot be claimed')
  const attempt: Attempt = { jobId: claim.id, attempt: claim.attempt, podUid: trainer.podUid }
  await recordEvents(pool, attempt, [{ seq: 0, type: 'training_started', data: { num_sequences: 1_000 } }])
  let seq = 0
  return {
    name,
    report: async () => {
      seq++
      const loss = (1 + seq / 1_000).toFixed(3)
      const atMs = performance.timeOrigin + performance.now()
      const numbers = { loss: Number(loss), entropy: 1, grad_norm: 0.5, reward: 0.5 }
      await recordEvents(pool, attempt, [{ seq, type: 'gradient_step', data: numbers }])
      return { loss, atMs }
    },
  }
}

/** What the page asks after an event. */
async function collectPaths(page: Visit, report: Report): Promise<string[]> {
  const paths = new Set<string>()
  await delay(settleMs)
  page.page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (request.method() === 'GET' && !pathname.endsWith('/stream')) paths.add(pathname + search)
  })
  await report()
  await delay(settleMs)
  page.page.removeAllListeners('request')
  return [...paths]
}

async function measureEvent(page: Visit, report: Report): Promise<number> {
  await delay(pauseMs * Math.random())
  const { loss, atMs } = await report()
  const shown = { selector: 'figcaption b', text: loss }
  await page.expect(shown)
  return (await page.readShownAt(shown)) - atMs
}

/**
 * Opens streams of changes, as the console does, without a browser. After a change, each viewer asks what a page asks then:
 * these paths. Each has connections of its own, as a browser has. Returns what ends them.
 */
async function openViewers(
  { url, apiKey }: BenchServer,
  { count, project, paths }: { count: number; project: string; paths: readonly string[] },
): Promise<() => void> {
  const headers = { authorization: `Bearer ${apiKey}` }
  const agents = Array.from({ length: count }, () => new Agent({ keepAlive: true, maxSockets: 6 }))
  /** A viewer that leaves gets no answer. */
  const ask = async (address: string, agent: Agent): Promise<IncomingMessage | undefined> => {
    const request = get(address, { headers, agent }).on('error', () => {})
    const [response] = (await once(request, 'response').catch(() => [])) as IncomingMessage[]
    return response?.on('error', () => {})
  }
  const follow = async (agent: Agent) => {
    const stream = await ask(`${url}/v1/preview/stream?topics=project:${project}`, agent)
    if (stream?.statusCode !== 200) throw new Error(`a stream was answered by ${stream?.statusCode}`)
    let gathering: NodeJS.Timeout | undefined
    let asked: Promise<unknown> = Promise.resolve()
    const askAll = async () => {
      // A page gives up what it still waits for. Here it ends first, so that requests never pile up.
      await asked
      gathering = undefined
      const read = async (path: string) => {
        const response = await ask(url + path, agent)
        if (response) await once(response.resume(), 'close').catch(() => {})
      }
      asked = Promise.all(paths.map(read))
    }
    stream.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('event: change')) gathering ??= setTimeout(() => void askAll(), gatherMs)
    })
    return stream
  }
  const streams = await within(limitSeconds, 'not all viewers got their stream', Promise.all(agents.map(follow)))
  return () => {
    for (const stream of streams) stream.destroy()
    for (const agent of agents) agent.destroy()
  }
}
