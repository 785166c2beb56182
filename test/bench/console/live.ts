import { randomUUID } from 'node:crypto'
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
import type { Part } from './pages.ts'
import { visit, type Visit } from './visit.ts'

const log = createLogger('bench', 'silent')
const events = 20
// A trainer's step takes about so long.
const pauseMs = 400

/** A run at work: how long a gradient step takes to its pixels. */
export const live: Part = async ({ server, browser, cookie, data }, slowdown) => {
  await data.baseModel()
  const { name, report } = await startRun(server)
  await report()
  const stopNumbering = numberChanges(server)
  try {
    return await visit(browser, { slowdown, cookie }, async (page) => {
      await page.open(`${server.url}/${server.entity}/tests/runs/${name}`, { selector: 'figcaption b' })
      const timesMs: number[] = []
      while (timesMs.length < events) timesMs.push(await measureEvent(page, report))
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

async function measureEvent(page: Visit, report: Report): Promise<number> {
  await delay(pauseMs * Math.random())
  const { loss, atMs } = await report()
  const shown = { selector: 'figcaption b', text: loss }
  await page.expect(shown)
  return (await page.ask<number>('probe.painted.then((ms) => performance.timeOrigin + ms)')) - atMs
}
