import { setTimeout as delay } from 'node:timers/promises'
import { atLeast, atMost, defineBench, type Figures } from './harness.ts'
import { createModels, postJob, runBatch, type BatchResult } from './operator/batch.ts'
import { withPlane, type Plane } from './operator/plane.ts'
import { median, percentile } from './statistics.ts'

const pauseMs = 50

/**
 * The operator on a real control plane whose nodes, pods and trainers are played: how fast jobs pass, how many writes of the
 * Kubernetes API one takes, how soon one starts while others wait, and whether many cost more than few.
 */
export const operator = defineBench({
  stack: 'control',
  // Jobs that are trained as they come, over so many models; those that wait while others are started; and those that all
  // wait before the first is trained: few of them in each round, and many.
  counts: { jobs: 1000, models: 50, waiting: 1000, starts: 100, few: 100, rounds: 3, many: 5000 },
  goals: {
    jobs_per_s: atLeast(50),
    writes_per_job: atMost(6),
    reconcile_p99_ms: atMost(50),
    post_to_training_started_p50_ms: atMost(25),
    post_to_training_started_p99_ms: atMost(100),
    operator_mb_with_many: atMost(300),
    cost_of_job_many_vs_few: atMost(1.3),
  },
  measure: ({ stack, counts }) =>
    withPlane(stack, async (plane): Promise<Figures> => {
      const models = await createModels(plane, counts.models)
      const between = () => Promise.resolve()
      await runBatch(plane, 'which warm all processes up', { jobs: counts.few, models })
      const passed = await runBatch(plane, 'as they come', { jobs: counts.jobs, models })
      const few: BatchResult[] = []
      while (few.length < counts.rounds) {
        few.push(await runBatch(plane, 'few wait', { jobs: counts.few, models, between }))
      }
      const startedMs: number[] = []
      const start = async () => startedMs.push(...(await measureStarts(plane, counts.starts)))
      await runBatch(plane, 'behind those that start', { jobs: counts.waiting, models, between: start })
      const many = await runBatch(plane, 'many wait', { jobs: counts.many, models, between })
      return {
        jobs_per_s: passed.perSecond,
        writes_per_job: passed.writesPerJob,
        reconcile_p99_ms: passed.reconcileP99Ms,
        post_to_training_started_p50_ms: median(startedMs),
        post_to_training_started_p99_ms: percentile(startedMs, 0.99),
        operator_mb_with_many: many.operatorMb,
        cost_of_job_many_vs_few: many.costMs / median(few.map(({ costMs }) => costMs)),
      }
    }),
})

/** Milliseconds from the request of a job to its `training_started` at a client that waits for events, job after job. */
async function measureStarts(plane: Plane, count: number): Promise<number[]> {
  const models = await createModels(plane, Math.min(count, 20))
  plane.trainers.train({ isReleased: false })
  const timesMs: number[] = []
  while (timesMs.length < count) {
    const startMs = performance.now()
    await waitForStart(plane, await postJob(plane, models[timesMs.length % models.length]!))
    timesMs.push(performance.now() - startMs)
    // A model that is still publishing would delay its next job.
    await delay(pauseMs)
  }
  return timesMs
}

async function waitForStart({ url, apiKey }: Plane, jobId: string): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}`, accept: 'text/event-stream' }
  const left = new AbortController()
  const response = await fetch(`${url}/v1/preview/training-jobs/${jobId}/events`, { headers, signal: left.signal })
  let text = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (text.includes('training_started')) return left.abort()
  }
  throw new Error(`the events of job ${jobId} ended without training_started: ${text}`)
}
