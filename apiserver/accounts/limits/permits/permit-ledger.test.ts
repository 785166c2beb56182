import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { chooseCases } from '../../../../test/support/random-cases.ts'
import { PermitLedger } from './permit-ledger.ts'
import { PermitsExhausted } from './permits.ts'
import { SharedPermits } from './shared-permits.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const entity = 'team'

interface Use {
  process: number
  release: () => void
}

interface Process {
  id: number
  permits: SharedPermits
  /** How many of its requests wait for a permit. */
  asking: number
  /** Messages that are on their way, in order. */
  sent: (() => void)[]
  received: (() => void)[]
}

/** The processes of a replica and their supervisor. Messages arrive when the test says so. */
class Replica {
  processes: Process[] = []
  uses: Use[] = []
  limit: number
  rejected = 0
  messages = 0
  readonly ledger = new PermitLedger((id, answer) => {
    this.messages++
    const to = this.processes.find((process) => process.id === id)
    to?.received.push(() => to.permits.receive(answer))
  })

  constructor({ processes, limit }: { processes: number; limit: number }) {
    this.limit = limit
    for (let id = 1; id <= processes; id++) this.start(id)
  }

  start(id: number): void {
    const sent: (() => void)[] = []
    const permits = new SharedPermits('concurrent_streams', (request) => {
      this.messages++
      sent.push(() => this.ledger.receive(id, request))
    })
    this.processes.push({ id, permits, asking: 0, sent, received: [] })
  }

  kill(id: number): void {
    this.processes = this.processes.filter((process) => process.id !== id)
    this.uses = this.uses.filter((use) => use.process !== id)
    this.ledger.removeProcess(id)
  }

  take(process: Process): void {
    const { limit } = this
    const { id, permits } = process
    const use = (release: () => void) => {
      if (this.processes.includes(process)) this.uses.push({ process: id, release })
    }
    const release = permits.tryAcquire(entity, limit)
    if (release) return use(release)
    process.asking++
    permits
      .acquire(entity, limit)
      .then(use, (error) => {
        expect(error).toBeInstanceOf(PermitsExhausted)
        this.rejected++
      })
      .finally(() => process.asking--)
  }

  release(index: number): void {
    for (const { release } of this.uses.splice(index, 1)) release()
  }

  /** Delivers all messages, and all answers to them. */
  async settle(): Promise<void> {
    for (let times = 0; times < 100; times++) {
      for (const { sent, received } of this.processes)
        for (const deliver of [...sent.splice(0), ...received.splice(0)]) deliver()
      await vi.advanceTimersByTimeAsync(times % 10 === 9 ? 20 : 0)
    }
  }
}

describe('permits of several processes', () => {
  test('a permit that a process does not use goes to another one, and reuse in one process needs no message', async () => {
    const replica = new Replica({ processes: 2, limit: 1 })
    const [first, second] = replica.processes as [Process, Process]
    replica.take(first)
    await replica.settle()
    replica.release(0)
    const { messages } = replica
    for (let times = 0; times < 10; times++) {
      replica.take(first)
      replica.release(0)
    }
    expect(replica.messages).toBe(messages)
    replica.take(second)
    await replica.settle()
    expect([replica.uses.length, replica.rejected]).toEqual([1, 0])
    replica.take(first)
    await replica.settle()
    expect([replica.uses.length, replica.rejected]).toEqual([1, 1])
  })

  test('after the limit was lowered, released permits beyond it are not used again', async () => {
    const replica = new Replica({ processes: 2, limit: 6 })
    const [first, second] = replica.processes as [Process, Process]
    for (const process of [first, second]) for (let times = 0; times < 3; times++) replica.take(process)
    await replica.settle()
    expect(replica.uses).toHaveLength(6)
    replica.limit = 3
    replica.take(first)
    await replica.settle()
    for (let left = 5; left >= 3; left--) {
      replica.release(0)
      for (const process of replica.processes) replica.take(process)
      await replica.settle()
      expect(replica.uses).toHaveLength(left)
    }
    replica.limit = 6
    for (let times = 0; times < 3; times++) replica.take(second)
    await replica.settle()
    expect(replica.uses).toHaveLength(6)
  })

  test('a flood beyond the limit causes one round every twenty milliseconds, for any number of requests', async () => {
    const replica = new Replica({ processes: 3, limit: 6 })
    for (const process of replica.processes) for (let times = 0; times < 2; times++) replica.take(process)
    await replica.settle()
    const before = replica.messages
    for (let ms = 0; ms < 400; ms++) {
      for (const process of replica.processes) for (let times = 0; times < 10; times++) replica.take(process)
      for (const { sent, received } of replica.processes)
        for (const deliver of [...sent.splice(0), ...received.splice(0)]) deliver()
      await vi.advanceTimersByTimeAsync(1)
    }
    expect(replica.rejected).toBeGreaterThan(10_000)
    // For each process: a question with its answer, and a recall with its answer.
    expect(replica.messages - before).toBeLessThanOrEqual(21 * 3 * 4)
  })

  test('a process that does not answer delays the others by at most a second', async () => {
    const replica = new Replica({ processes: 2, limit: 2 })
    const [hung, other] = replica.processes as [Process, Process]
    replica.take(hung)
    await replica.settle()
    for (let times = 0; times < 2; times++) replica.take(other)
    const deliver = () => {
      for (const each of [...other.sent.splice(0), ...other.received.splice(0)]) each()
    }
    for (let times = 0; times < 4; times++) deliver()
    await vi.advanceTimersByTimeAsync(900)
    expect([replica.uses.length, replica.rejected]).toEqual([2, 0])
    await vi.advanceTimersByTimeAsync(100)
    deliver()
    await vi.advanceTimersByTimeAsync(0)
    expect([replica.uses.length, replica.rejected]).toEqual([2, 1])
  })

  test('unused permits are returned, and leave no entries', async () => {
    const replica = new Replica({ processes: 2, limit: Infinity })
    const look = async () => {
      for (const { permits } of replica.processes) permits.returnUnused()
      await replica.settle()
    }
    for (const process of replica.processes) for (let times = 0; times < 5; times++) replica.take(process)
    await replica.settle()
    await look()
    for (let times = 0; times < 9; times++) replica.release(0)
    await look()
    await look()
    expect(replica.ledger.size).toBe(1)
    replica.release(0)
    for (let times = 0; times < 3; times++) await look()
    expect([replica.ledger.size, ...replica.processes.map(({ permits }) => permits.size)]).toEqual([0, 0, 0])
  })
})

type Step = [kind: number, which: number]

async function take(replica: Replica, [kind, which]: Step): Promise<void> {
  const process = replica.processes[which % replica.processes.length]!
  if (kind < 4) replica.take(process)
  else if (kind < 7) replica.release(which % Math.max(1, replica.uses.length))
  else if (kind < 10) process.sent.shift()?.()
  else if (kind < 13) process.received.shift()?.()
  else if (kind < 14) await vi.advanceTimersByTimeAsync(which)
  else if (kind < 15) process.permits.returnUnused()
  else if (which % 8 === 0) {
    replica.kill(process.id)
    replica.start(process.id + 100)
  }
  await vi.advanceTimersByTimeAsync(0)
}

const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 15 }), fc.nat({ max: 1_000 })), {
  maxLength: 150,
  size: 'max',
})
const sizes = fc.record({ processes: fc.integer({ min: 1, max: 4 }), limit: fc.integer({ min: 0, max: 6 }) })

test('for any order of events, the permits in use never exceed the limit, and in the end reach it', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, steps, async (size, taken) => {
      const replica = new Replica(size)
      for (const step of taken) {
        await take(replica, step)
        expect(replica.uses.length).toBeLessThanOrEqual(size.limit)
      }
      await replica.settle()
      expect(replica.processes.filter(({ asking }) => asking > 0)).toEqual([])
      // Every process can find each free permit, and no other.
      for (let index = 0; replica.uses.length < size.limit; index++) {
        const before = replica.uses.length
        replica.take(replica.processes[index % replica.processes.length]!)
        await replica.settle()
        expect(replica.uses).toHaveLength(before + 1)
      }
      for (const process of replica.processes) replica.take(process)
      await replica.settle()
      expect(replica.uses).toHaveLength(size.limit)
    }),
    chooseCases(100),
  )
})

test('changed limits apply when all processes know them', async () => {
  const changes = fc.array(fc.tuple(fc.integer({ min: 0, max: 6 }), steps), { maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(sizes, changes, async (size, changed) => {
      const replica = new Replica(size)
      for (const [limit, taken] of changed) {
        await replica.settle()
        const before = replica.uses.length
        replica.limit = limit
        for (const step of taken) {
          await take(replica, step)
          expect(replica.uses.length).toBeLessThanOrEqual(Math.max(before, limit))
        }
        await replica.settle()
        replica.take(replica.processes[0]!)
        await replica.settle()
        while (replica.uses.length > limit) {
          const { length } = replica.uses
          replica.release(0)
          for (const process of replica.processes) replica.take(process)
          await replica.settle()
          expect(replica.uses.length).toBe(Math.max(limit, length - 1))
        }
      }
    }),
    chooseCases(40),
  )
})
