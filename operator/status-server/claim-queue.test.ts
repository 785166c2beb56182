import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Claim, Claimant } from '../../db/jobs/claims.ts'
import { ClaimQueue } from './claim-queue.ts'

const longWaitMs = 5_000
const stays = new AbortController().signal

function trainer(baseModel = 'base'): Claimant {
  return { baseModel, podUid: randomUUID(), processId: randomUUID(), gpus: 0, holding: [] }
}

function job(): Claim {
  return { id: randomUUID() } as Claim
}

/** A queue over a list of jobs. It counts the queries. */
function createQueue() {
  const jobs: Claim[] = []
  const asked: Claimant[] = []
  const queue = new ClaimQueue(async (claimant) => {
    asked.push(claimant)
    return jobs.shift()
  })
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  return { queue, jobs, asked, settled }
}

test('an available job is assigned at once', async () => {
  const { queue, jobs } = createQueue()
  const one = job()
  jobs.push(one)
  expect(await queue.wait(trainer(), 0, stays)).toBe(one)
})

test('without a job the wait ends empty, after one query', async () => {
  const { queue, asked } = createQueue()
  expect(await queue.wait(trainer(), 0, stays)).toBeUndefined()
  expect(asked).toHaveLength(1)
})

test('a wake-up assigns one job to the longest waiter, and makes only one more query', async () => {
  const { queue, jobs, asked, settled } = createQueue()
  const waits = Array.from({ length: 50 }, () => queue.wait(trainer(), longWaitMs, stays))
  await settled()
  expect(asked).toHaveLength(50)
  const one = job()
  jobs.push(one)
  queue.wake()
  expect(await waits[0]).toBe(one)
  await settled()
  expect(asked).toHaveLength(52)
  queue.close()
  expect((await Promise.all(waits)).filter(Boolean)).toEqual([one])
})

/** The first `gets` queries get a job, the last of which is the last one. `during` runs during each query. */
function createEndingQueue(gets: number, during = () => {}) {
  const asked: boolean[] = []
  const queue: ClaimQueue = new ClaimQueue(async (_, { onlyLost }) => {
    asked.push(onlyLost)
    during()
    return asked.length > gets ? undefined : { ...job(), isLast: asked.length === gets }
  })
  return { queue, asked }
}

test('after the last job there are no more queries before a wake-up, except for lost answers', async () => {
  const { queue, asked } = createEndingQueue(2)
  const waits = Array.from({ length: 5 }, () => queue.wait(trainer(), longWaitMs, stays))
  await Promise.all(waits.slice(0, 2))
  await new Promise((resolve) => setImmediate(resolve))
  expect(asked).toEqual([false, false, true, true, true])
  queue.wake()
  await new Promise((resolve) => setImmediate(resolve))
  expect(asked.slice(5)).toEqual([false])
  queue.close()
})

test('a job that is queued while the last one is assigned is looked for', async () => {
  const { queue, asked } = createEndingQueue(1, () => asked.length === 1 && queue.wake())
  const waits = [queue.wait(trainer(), longWaitMs, stays), queue.wait(trainer(), longWaitMs, stays)]
  expect(await waits[0]).toBeDefined()
  await new Promise((resolve) => setImmediate(resolve))
  expect(asked).toEqual([false, false])
  queue.close()
})

test('a trainer that waits for a job of its own takes no turn of the warm ones', async () => {
  const asked: Claimant[] = []
  const queue = new ClaimQueue(async (claimant) => {
    asked.push(claimant)
    return claimant.jobId === undefined && asked.length > 2 ? job() : undefined
  })
  const own = queue.wait({ ...trainer(), jobId: randomUUID() }, longWaitMs, stays)
  const warm = queue.wait(trainer(), longWaitMs, stays)
  await new Promise((resolve) => setImmediate(resolve))
  expect(asked).toHaveLength(2)
  // It has waited longest, and gets nothing. That is no reason not to ask for the warm one.
  queue.wake()
  expect(await warm).toBeDefined()
  queue.close()
  expect(await own).toBeUndefined()
})

test('trainers with the fewest jobs come first, then the longest waiter', async () => {
  const { queue, jobs, asked, settled } = createQueue()
  const busy = (...holding: string[]) => ({ ...trainer(), holding })
  const trainers = [busy('a', 'b'), busy('c'), trainer(), busy('d'), busy()]
  const waits = trainers.map((each) => queue.wait(each, longWaitMs, stays))
  await settled()
  asked.length = 0
  jobs.push(job(), job(), job())
  queue.wake()
  await settled()
  expect(asked.map((each) => trainers.indexOf(each))).toEqual([2, 4, 1, 3])
  queue.close()
  const got = await Promise.all(waits)
  expect(got.map((claim) => claim !== undefined)).toEqual([false, true, true, false, true])
})

test('a new request of a process ends its earlier wait', async () => {
  const { queue, jobs, asked, settled } = createQueue()
  const first = trainer()
  const earlier = queue.wait(first, longWaitMs, stays)
  await settled()
  const again = { ...first, holding: ['a'] }
  const later = queue.wait(again, longWaitMs, stays)
  expect(await earlier).toBeUndefined()
  const one = job()
  jobs.push(one)
  queue.wake()
  expect(await later).toBe(one)
  expect(asked.at(-1)).toBe(again)
})

test('there is no query for a wait that ended during the queries of others', async () => {
  const answers = [Promise.withResolvers<Claim | undefined>(), Promise.withResolvers<Claim | undefined>()]
  const asked: Claimant[] = []
  const queue = new ClaimQueue((claimant) => {
    asked.push(claimant)
    return answers[asked.length - 3]?.promise ?? Promise.resolve(undefined)
  })
  const waits = [queue.wait(trainer(), longWaitMs, stays), queue.wait(trainer(), 20, stays)]
  await new Promise((resolve) => setImmediate(resolve))
  queue.wake()
  expect(await waits[1]).toBeUndefined()
  answers[0]!.resolve(job())
  expect(await waits[0]).toBeDefined()
  await new Promise((resolve) => setImmediate(resolve))
  expect(asked).toHaveLength(3)
})

test('several wake-ups during a query lead to one more query', async () => {
  const { queue, asked, settled } = createQueue()
  const wait = queue.wait(trainer(), longWaitMs, stays)
  await settled()
  for (let times = 0; times < 100; times++) queue.wake()
  await settled()
  expect(asked).toHaveLength(3)
  queue.close()
  expect(await wait).toBeUndefined()
})

test('topics of different base models do not delay each other', async () => {
  const stuck = new Promise<undefined>(() => {})
  const one = job()
  const queue = new ClaimQueue(async (claimant) => (claimant.baseModel === 'slow' ? stuck : one))
  void queue.wait(trainer('slow'), longWaitMs, stays)
  expect(await queue.wait(trainer('fast'), longWaitMs, stays)).toBe(one)
})

test('no job is assigned to a trainer that has left', async () => {
  const { queue, jobs, asked, settled } = createQueue()
  const leaves = new AbortController()
  const gone = queue.wait(trainer(), longWaitMs, leaves.signal)
  const stayer = trainer()
  const stayed = queue.wait(stayer, longWaitMs, stays)
  await settled()
  leaves.abort()
  expect(await gone).toBeUndefined()
  const one = job()
  jobs.push(one)
  queue.wake()
  expect(await stayed).toBe(one)
  expect(asked.at(-1)).toBe(stayer)
})

test('a wait that times out during a query still gets its result', async () => {
  const answer = Promise.withResolvers<Claim | undefined>()
  const queue = new ClaimQueue(() => answer.promise)
  const wait = queue.wait(trainer(), 0, stays)
  await new Promise((resolve) => setTimeout(resolve, 10))
  const one = job()
  answer.resolve(one)
  expect(await wait).toBe(one)
})

test('an error ends the wait of its query; the others continue to wait', async () => {
  let failing = false
  const jobs: Claim[] = []
  const queue = new ClaimQueue(async () => {
    if (failing) throw new Error('database away')
    return jobs.shift()
  })
  const [first, second] = [queue.wait(trainer(), longWaitMs, stays), queue.wait(trainer(), longWaitMs, stays)]
  await new Promise((resolve) => setImmediate(resolve))
  failing = true
  queue.wake()
  await expect(first).rejects.toThrow('database away')
  failing = false
  jobs.push(job())
  queue.wake()
  expect(await second).toBeDefined()
})

test('after closing, no request waits', async () => {
  const { queue } = createQueue()
  queue.close()
  expect(await queue.wait(trainer(), longWaitMs, stays)).toBeUndefined()
})
