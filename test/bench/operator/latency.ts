import { setTimeout as delay } from 'node:timers/promises'
import { postJob } from './batch.ts'
import type { Plane } from './plane.ts'

const pauseMs = 50

/** Milliseconds from the request of a job to its `training_started` at a client that waits for events, job after job. */
export async function measureStarts(plane: Plane, models: readonly string[], count: number): Promise<number[]> {
  const timesMs: number[] = []
  while (timesMs.length < count) {
    const startMs = performance.now()
    const id = await postJob(plane, models[timesMs.length % models.length]!)
    await waitForStart(plane, id)
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
    if (!text.includes('training_started')) continue
    left.abort()
    return
  }
  throw new Error(`the events of job ${jobId} ended without training_started: ${text}`)
}
