import fc from 'fast-check'
import { expect, test } from 'vitest'
import { labels } from '../../../crds/names.ts'
import { isTerminal } from '../../../crds/job-states.ts'
import type { OperatorJob } from '../../../db/jobs/resources.ts'
import type { Job, Pod } from '../../../lib/kube/objects.ts'
import { makeJob } from '../../../test/support/job-objects.ts'
import { chooseCases } from '../../../test/support/random-cases.ts'
import { planDedicated, type DedicatedAction } from './plan.ts'

// What may happen to a job with pods of its own, in any order, and how often it does. `operate` is one step of an operator:
// one that dies between two steps goes on at the next.
const frequencies = {
  operate: 16,
  startPod: 8,
  runPod: 8,
  claim: 4,
  train: 3,
  failPod: 3,
  release: 4,
  decide: 3,
  dropJobs: 6,
  dropPods: 4,
  suspend: 2,
  resume: 4,
  waitLong: 3,
  changeHash: 2,
  block: 1,
  unblock: 3,
  cancel: 1,
}
type Event = keyof typeof frequencies

/** A row, and what there is of it in the cluster. */
class World {
  row: OperatorJob = makeJob({ mode: 'Dedicated' })
  jobs: Job[] = []
  pods: Pod[] = []
  readonly knownPods = new Set<string>()
  now = new Date('2026-01-01T00:00:00Z')
  #hash = 'a'
  #holder: string | undefined
  #made = 0

  plan(): DedicatedAction {
    const baseModel = {
      metadata: {},
      spec: { names: ['tiny'], source: { path: 'models/none' } },
    } as const
    const { row, jobs, pods, knownPods, now } = this
    return planDedicated({
      job: row,
      baseModel: baseModel as never,
      hash: this.#hash,
      jobs,
      pods,
      knownPods,
      now,
    })
  }

  happen(event: Event): void {
    if (event === 'operate') return this.execute(this.plan())
    this[event]()
    const holding = this.pods.filter(({ status }) => status?.phase === 'Pending' || status?.phase === 'Running')
    expect(holding.length).toBeLessThanOrEqual(1)
  }

  execute(action: DedicatedAction): void {
    const { row } = this
    if (action.do === 'create') {
      // Attempts never overlap, and nothing is made for a job that has ended or is to have no pods.
      expect([this.jobs, this.pods, row.state, row.suspend]).toEqual([[], [], 'Queued', false])
      const labelled = { [labels.job]: row.id, [labels.specHash]: this.#hash }
      this.jobs = [
        {
          metadata: {
            name: `job-${row.attempt + 1}`,
            uid: `job-${this.#made++}`,
            labels: labelled,
          },
        },
      ]
    } else if (action.do === 'delete') {
      // The pod of an undecided attempt is the evidence, and one that runs has loaded its base model.
      const mayStay = row.state === 'Queued' && !row.suspend
      const running = this.pods.filter(({ status }) => status?.phase === 'Running')
      if (mayStay) expect([row.isUndecided && !this.jobs.some(isLive), running]).toEqual([false, []])
      const deletionTimestamp = this.now.toISOString()
      const remove = ({ metadata, ...rest }: Job) =>
        metadata.uid === action.uid ? { ...rest, metadata: { ...metadata, deletionTimestamp } } : { ...rest, metadata }
      this.jobs = this.jobs.map(remove)
    } else if (action.do === 'suspend') {
      expect([this.jobs, this.pods, row.state]).toEqual([[], [], 'Queued'])
      this.row = { ...row, suspendedAt: this.now }
    } else if (action.do === 'resume') this.row = { ...row, suspendedAt: null }
    else if (action.do === 'recordFailedStart' && !this.knownPods.has(action.podUid)) {
      this.knownPods.add(action.podUid)
      this.row = { ...row, attempt: row.attempt + 1 }
    }
  }

  /** Kubernetes makes a pod for a Job that has none. */
  startPod(): void {
    if (this.pods.length === 0 && this.jobs.some(isLive))
      this.pods = [
        {
          metadata: { name: 'pod', uid: `pod-${this.#made++}` },
          status: { phase: 'Pending' },
        },
      ]
  }

  runPod(): void {
    this.#setPhase('Pending', 'Running')
  }

  claim(): void {
    const pod = this.pods.find(({ status }) => status?.phase === 'Running')
    const { row } = this
    if (!pod?.metadata.uid || row.state !== 'Queued' || row.suspend || row.isUndecided) return
    this.#holder = pod.metadata.uid
    this.knownPods.add(this.#holder)
    this.row = { ...row, state: 'Starting', attempt: row.attempt + 1 }
  }

  train(): void {
    const next = {
      Starting: 'Running',
      Running: 'Publishing',
      Publishing: 'Succeeded',
    } as const
    const { state } = this.row
    if (state !== 'Starting' && state !== 'Running' && state !== 'Publishing') return
    this.row = { ...this.row, state: next[state] }
    if (next[state] === 'Publishing') this.#endPod('Succeeded', 'Complete')
  }

  failPod(): void {
    const { state } = this.row
    const isHeld = state === 'Starting' || state === 'Running'
    if (this.#endPod('Failed', 'Failed') && isHeld) this.row = { ...this.row, state: 'Queued', isUndecided: true }
  }

  decide(): void {
    this.row = { ...this.row, isUndecided: false }
  }

  // Our copies of Jobs and pods are of different times: either may be gone first.
  dropJobs(): void {
    this.jobs = this.jobs.filter(isLeft)
  }

  dropPods(): void {
    if (!this.jobs.some(isLeft)) this.pods = []
  }

  /** The trainer has given its job back, or its lease has expired. */
  release(): void {
    if (this.pods.some(({ metadata, status }) => metadata.uid === this.#holder && status?.phase === 'Running')) return
    const { state } = this.row
    if (state === 'Starting' || state === 'Running') this.row = { ...this.row, state: 'Queued' }
  }

  suspend(): void {
    if (!isTerminal(this.row.state)) this.row = { ...this.row, suspend: true }
  }

  resume(): void {
    this.row = { ...this.row, suspend: false }
  }

  cancel(): void {
    if (!isTerminal(this.row.state) && this.row.state !== 'Publishing') this.row = { ...this.row, state: 'Cancelled' }
  }

  waitLong(): void {
    this.now = new Date(this.now.getTime() + 400_000)
  }

  changeHash(): void {
    this.#hash = this.#hash === 'a' ? 'b' : 'a'
  }

  block(): void {
    this.row = { ...this.row, block: 'entity' }
  }

  unblock(): void {
    this.row = { ...this.row, block: null }
  }

  #setPhase(from: string, to: string): boolean {
    const found = this.pods.some(({ status }) => status?.phase === from)
    this.pods = this.pods.map((pod) => (pod.status?.phase === from ? { ...pod, status: { phase: to } } : pod))
    return found
  }

  #endPod(phase: string, type: string): boolean {
    if (!this.#setPhase('Running', phase)) return false
    const conditions = [{ type, status: 'True', lastTransitionTime: this.now.toISOString() }]
    this.jobs = this.jobs.map((job) => ({ ...job, status: { conditions } }))
    return true
  }
}

const isLeft = ({ metadata }: Job) => metadata.deletionTimestamp === undefined
const isLive = (job: Job) => isLeft(job) && !job.status?.conditions

const events = fc.array(
  fc.oneof(
    ...Object.entries(frequencies).map(([event, weight]) => ({ weight, arbitrary: fc.constant(event as Event) })),
  ),
  { minLength: 20, maxLength: 150, size: 'max' },
)

test('whatever happens in whatever order, attempts never overlap, and nothing is made for a job that has ended or is suspended', () => {
  fc.assert(
    fc.property(events, (given) => {
      const world = new World()
      for (const event of given) world.happen(event)
    }),
    chooseCases(200),
  )
})

test('when nothing else happens, it comes to rest: with one Job if it waits for its turn, and else with none', () => {
  fc.assert(
    fc.property(events, (given) => {
      const world = new World()
      for (const event of given) world.happen(event)
      for (let round = 0; round < 8; round++)
        for (const event of ['operate', 'dropJobs', 'dropPods', 'release', 'decide', 'waitLong'] as const)
          world.happen(event)
      expect(world.plan()).toMatchObject({ do: 'none' })
      const { row, jobs, pods } = world
      if (isTerminal(row.state)) expect([jobs, pods]).toEqual([[], []])
      else if (row.state === 'Queued' && row.suspend)
        expect([row.suspendedAt !== null, jobs, pods]).toEqual([true, [], []])
      else if (row.state === 'Queued') {
        expect(row.suspendedAt).toBeNull()
        const live = jobs.filter(isLive)
        if (row.block === null || jobs.length > 0) expect([jobs.length, live.length]).toEqual([1, 1])
      }
    }),
    chooseCases(200),
  )
})
