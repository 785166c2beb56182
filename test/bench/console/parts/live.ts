import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Attempt } from '../../../../db/jobs/attempts.ts'
import { claimJob } from '../../../../db/jobs/claims.ts'
import { queueJob } from '../../../../db/jobs/enqueue.ts'
import { recordEvents } from '../../../../db/jobs/reports.ts'
import { createRest } from '../../../support/rest.ts'
import { baseModel } from '../../api-data.ts'
import type { BenchServer } from '../../bench-server.ts'
import { percentile } from '../../result.ts'
import { withNumberedChanges } from '../numbered-changes.ts'
import type { Part } from '../part.ts'
import { openViewers } from '../viewers.ts'
import { visit, type Visit } from '../visit.ts'

const viewerCount = 50
const events = 20
// A trainer's step takes about so long.
const pauseMs = 400
const settleMs = 3_000

/** A run at work, in a page and for 49 other viewers: how long a gradient step takes to its pixels. */
export const live: Part = {
  prepare: async ({ server, browser, cookie, data }) => {
    await data.baseModel()
    return async (slowdown) => {
      const { name, report } = await startRun(server)
      await report()
      return withNumberedChanges(server, () =>
        visit(browser, { slowdown, cookie }, async (page) => {
          await page.open(`${server.url}/${server.entity}/tests/runs/${name}`, { selector: 'figcaption b' })
          const paths = await collectPaths(page, report)
          const others = await openViewers(server, { count: viewerCount - 1, project: 'tests', paths })
          try {
            const timesMs: number[] = []
            for (let event = 0; event < events; event++) timesMs.push(await measureEvent(page, report))
            return { event_to_pixel_p95_ms: percentile(timesMs, 0.95) }
          } finally {
            others.close()
          }
        }),
      )
    }
  },
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
