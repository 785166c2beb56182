import { expect } from 'vitest'
import { eventually } from './eventually.ts'
import { sampleGroup, type Rest } from './rest.ts'

/** A job that takes some seconds, because of many long answers and small batches. */
export async function startLongJob(rest: Rest) {
  const model = await rest.createModel()
  const groups = await Promise.all(
    ['Tell me about the sea.', 'Tell me a story.', 'Tell me about a horse.', 'How was your day?'].map((prompt) =>
      sampleGroup(rest, model.address, prompt, (_, index) => index % 2, 16),
    ),
  )
  return { model, jobId: await rest.startJob(model.id, groups) }
}

/** Waits until a job has ended, and checks that it has one end, each gradient step once, and one checkpoint. */
export async function expectOneEnd(
  rest: Rest,
  { model, jobId }: Awaited<ReturnType<typeof startLongJob>>,
  timeoutMs = 120_000,
): Promise<void> {
  const events = await eventually(() => rest.waitForEnd(jobId, timeoutMs), timeoutMs)
  expect(events.filter((event) => /^training_(ended|failed)$/.test(event.type)).map((event) => event.type)).toEqual([
    'training_ended',
  ])
  const steps = events.filter((event) => event.type === 'gradient_step')
  expect(steps).toHaveLength(Number(events[0]?.data.num_sequences))
  expect((await rest.listCheckpoints(model.id)).map((checkpoint) => checkpoint.step)).toEqual([1])
}
