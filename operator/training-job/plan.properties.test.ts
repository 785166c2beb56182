import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isTerminal, jobPhases, jobStates, type JobState } from '../../crds/job-states.ts'
import { makeJob, makeResource } from '../../test/support/job-objects.ts'
import { chooseCases } from '../../test/support/random-cases.ts'
import { planJob, type JobFacts, type JobPlan } from './plan.ts'

const start = Date.parse('2026-01-01T00:00:00Z')
const time = fc.integer({ min: -100, max: 100 }).map((seconds) => new Date(start + seconds * 1000))
const orNull = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null })
const seconds = fc.integer({ min: 1, max: 100 })
const model = { id: 'm1', entity: 'acme', baseModel: 'tiny' }

const spec = fc.record(
  {
    cancel: fc.boolean(),
    suspend: fc.boolean(),
    ttlSecondsAfterFinished: fc.nat({ max: 100 }),
    retry: fc.record({ limit: fc.nat({ max: 3 }) }),
    priorityClassName: fc.constantFrom('high', 'low'),
  },
  { requiredKeys: [] },
)

const row = fc
  .record({
    state: fc.constantFrom<JobState>(...jobStates),
    method: fc.constantFrom<'RL' | 'SFT'>('RL', 'SFT'),
    inputUri: fc.constantFrom('artifact:///payloads/acme/a.json', 'artifact:///payloads/other/a.json', 'https://a/b'),
    inputDigest: orNull(fc.constant('0'.repeat(64))),
    suspend: fc.boolean(),
    suspendAsked: orNull(fc.boolean()),
    maxAttempts: fc.integer({ min: 1, max: 5 }),
    createdAt: time,
    firstClaimedAt: orNull(time),
    startDeadlineSeconds: orNull(seconds),
    activeDeadlineSeconds: orNull(seconds),
    endedAt: time,
  })
  .map(({ endedAt, ...job }) => makeJob({ ...job, finishedAt: isTerminal(job.state) ? endedAt : null }))

const status = fc.record(
  { phase: fc.constantFrom(...jobPhases), completionTime: time.map((date) => date.toISOString()) },
  { requiredKeys: [] },
)

const facts: fc.Arbitrary<JobFacts> = fc.record({
  resource: fc.tuple(spec, status).map(([given, seen]) => ({ ...makeResource(given), status: seen })),
  modelExists: fc.boolean(),
  model: fc.option(
    fc.boolean().map((served) => ({ ...model, served })),
    { nil: undefined },
  ),
  priorityClassNames: fc.constantFrom<string[]>([], ['high']),
  job: fc.option(row, { nil: undefined }),
  stoppingIn: fc.option(fc.constant('trainer-0'), { nil: undefined, freq: 5 }),
  now: time,
})

/** What the facts are after a plan was executed. */
function execute(before: JobFacts, plan: JobPlan): JobFacts {
  const { job, now } = before
  if (plan.do === 'insert')
    return { ...before, job: makeJob({ state: 'Pending', maxAttempts: plan.maxAttempts, createdAt: now }) }
  // Each statement leaves a job alone that has ended meanwhile.
  if (!job || isTerminal(job.state)) return before
  const end = (state: JobState) => ({ ...before, job: { ...job, state, finishedAt: now } })
  if (plan.do === 'queue') return { ...before, job: { ...job, state: 'Queued' } }
  if (plan.do === 'limit') return { ...before, job: { ...job, maxAttempts: plan.maxAttempts } }
  if (plan.do === 'wantSuspended') {
    const suspend = plan.asked ?? before.resource.spec.suspend ?? false
    const resource = { ...before.resource, spec: { ...before.resource.spec, suspend } }
    return { ...before, resource, job: { ...job, suspend, suspendAsked: null } }
  }
  if (plan.do === 'cancel') return end(job.state === 'Publishing' ? 'Succeeded' : 'Cancelled')
  return plan.do === 'fail' && job.state !== 'Publishing' ? end('Failed') : before
}

const isDone = ({ do: action }: JobPlan) => action === 'none' || action === 'delete'
// A finished job whose row is lost has only its status.
const isFinished = ({ job, resource }: JobFacts) => isTerminal(job?.state ?? resource.status?.phase ?? 'Pending')

test('nothing is done for a finished job but the deletion of its resource, whatever else is true', () => {
  fc.assert(
    fc.property(facts.filter(isFinished), (given) => {
      const plan = planJob(given)
      expect(isDone(plan)).toBe(true)
      // Its trainer may hold a GPU.
      if (given.stoppingIn !== undefined) expect(plan.do).toBe('none')
    }),
    chooseCases(1_000),
  )
})

test('after a crash before or after any action, the next plan ends at the same job', () => {
  const settle = (from: JobFacts) => {
    let current = from
    for (let plan = planJob(current); !isDone(plan); plan = planJob(current)) current = execute(current, plan)
    return { job: current.job, suspend: current.resource.spec.suspend, plan: planJob(current) }
  }
  fc.assert(
    fc.property(facts, fc.nat({ max: 5 }), (given, crashAfter) => {
      let crashed = given
      for (let plan = planJob(crashed), done = 0; !isDone(plan) && done < crashAfter; plan = planJob(crashed), done++) {
        const once = execute(crashed, plan)
        // An operator that has seen an older row repeats an action. A row is inserted only after a look for it.
        if (plan.do !== 'insert') expect(settle(execute(once, plan))).toEqual(settle(once))
        crashed = once
      }
      expect(settle(crashed)).toEqual(settle(given))
    }),
    chooseCases(1_000),
  )
})

test('every job reaches a point where nothing is left to do, and no action is repeated on the way there', () => {
  fc.assert(
    fc.property(facts, (given) => {
      const actions: string[] = []
      let current = given
      for (let plan = planJob(current); !isDone(plan); plan = planJob(current)) {
        actions.push(plan.do)
        current = execute(current, plan)
        expect(actions.length).toBeLessThanOrEqual(5)
      }
      expect(new Set(actions).size).toBe(actions.length)
    }),
    chooseCases(1_000),
  )
})

test('an ended job has stayed ended, and a waiting one is looked at again no later than its deadline', () => {
  fc.assert(
    fc.property(facts, (given) => {
      const plan = planJob(given)
      const { job, now } = given
      if (
        plan.do !== 'none' ||
        given.stoppingIn !== undefined ||
        !job ||
        isTerminal(job.state) ||
        job.state === 'Publishing'
      )
        return
      const started = job.firstClaimedAt !== null
      const limit = started ? job.activeDeadlineSeconds : job.startDeadlineSeconds
      if (limit === null) return
      const dueAt = (job.firstClaimedAt ?? job.createdAt).getTime() + limit * 1000
      expect(plan.requeueAfterMs).toBe(dueAt - now.getTime())
      expect(plan.requeueAfterMs).toBeGreaterThan(0)
    }),
    chooseCases(1_000),
  )
})
