import { expect, onTestFinished, test } from 'vitest'
import { listBusyPods, markDraining } from '../../db/jobs/busy-trainers.ts'
import { claimJob } from '../../db/jobs/claims.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { nowhere, operateNamespace } from '../support/scaled-base-model.ts'
import { useStack } from '../support/stack.ts'
import { TrainingRows } from '../support/training-rows.ts'

const stack = useStack()

test('queued jobs start trainers, up to the maximum; a busy one stays, and idle ones end', async () => {
  const { database, applyBaseModel, readBaseModel, listPods, setReady } = await operateNamespace(stack)
  const rows = new TrainingRows(database.pool)
  await applyBaseModel('lazy', {
    names: [rows.baseModel],
    source: { path: 'models/none' },
    engine: { replicas: 0 },
    trainer: { warm: { min: 0, max: 2, idleSeconds: 1 }, maxJobs: 1, resources: nowhere },
  })
  const waitForTrainers = (count: number) =>
    eventually(
      async () => {
        const pods = await listPods('lazy', 'trainer')
        expect(pods).toHaveLength(count)
        return pods
      },
      60_000,
      100,
    )
  await eventually(async () => expect((await readBaseModel('lazy')).status?.trainers?.summary).toBe('0/0'), 60_000, 100)

  const jobs = await Promise.all(Array.from({ length: 20 }, async () => rows.addJob(await rows.addModel())))
  const pods = await waitForTrainers(2)
  for (const pod of pods) await setReady(pod)
  await eventually(async () => expect((await readBaseModel('lazy')).status?.trainers?.summary).toBe('2/2'), 60_000, 100)

  const busy = pods[1]!.metadata.uid!
  const claim = await claimJob(database.pool, rows.trainer(busy))
  const others = jobs.filter((id) => id !== claim!.id)
  await database.pool.query(`UPDATE training.jobs SET state = 'Cancelled', finished_at = now() WHERE id = ANY ($1)`, [
    others,
  ])
  // Its lease would expire, and another trainer would get the job.
  await database.pool.query(`UPDATE training.jobs SET lease_expires_at = now() + interval '1 hour' WHERE id = $1`, [
    claim!.id,
  ])
  const [last] = await waitForTrainers(1)
  expect(last?.metadata.uid).toBe(busy)

  await database.pool.query(`UPDATE training.jobs SET state = 'Cancelled', finished_at = now(), holder_pod = NULL`)
  await waitForTrainers(0)
})

test('a base model that becomes colocated has one pod, which counts as engine and trainer', async () => {
  const { applyBaseModel, readBaseModel, listPods, setReady } = await operateNamespace(stack)
  const spec = { names: ['both'], source: { path: 'models/none' }, engine: { resources: nowhere } }
  await applyBaseModel('both', { ...spec, trainer: { resources: nowhere } })
  await eventually(async () => expect(await listPods('both', 'trainer')).toHaveLength(1), 60_000, 100)

  await applyBaseModel('both', { ...spec, colocated: true })
  const pod = await eventually(async () => {
    expect(await listPods('both', 'trainer')).toEqual([])
    const program = ['python', '-m', 'trainyard_colocated']
    const pods = await listPods('both', 'engine')
    const colocated = pods.find((one) => JSON.stringify(one.spec).includes(JSON.stringify(program)))
    expect(colocated?.spec).toMatchObject({ serviceAccountName: 'trainyard-colocated' })
    return colocated!
  })
  await setReady(pod)
  const summary = { engine: { summary: '1/1' }, trainers: { summary: '1/1' }, reason: 'Ready' }
  await eventually(async () => expect((await readBaseModel('both')).status).toMatchObject(summary), 60_000, 100)
})

test('a trainer that claims a job while it is about to be stopped is busy afterwards', async () => {
  const own = await createTestDatabase()
  onTestFinished(() => own.drop())
  const rows = new TrainingRows(own.pool)
  const job = await rows.addJob(await rows.addModel())
  const trainer = rows.trainer()
  const connection = await own.pool.connect()
  onTestFinished(() => connection.release(true))
  // A claim that is under way.
  await connection.query('BEGIN')
  await connection.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [trainer.podUid])
  const draining = markDraining(own.pool, { namespace: 'trainyard', name: 'tiny' }, [trainer.podUid])
  // It waits for the claim.
  await eventually(async () => {
    const { rowCount } = await own.pool.query("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
    expect(rowCount).toBe(1)
  })
  await connection.query(
    `UPDATE training.jobs SET state = 'Starting', holder_pod = $1, holder_process = $2, attempt = 1,
       lease_expires_at = now() + interval '1 minute'`,
    [trainer.podUid, trainer.processId],
  )
  await connection.query('COMMIT')
  await draining
  expect(await listBusyPods(own.pool)).toEqual(new Set([trainer.podUid]))
  await rows.addJob(await rows.addModel())
  expect(await claimJob(own.pool, { ...trainer, holding: [job] })).toBeUndefined()
})

test('a maximum below the minimum is rejected', async () => {
  const spec = { names: ['x'], source: { path: 'x' }, trainer: { warm: { min: 2, max: 1 } } }
  const object = { apiVersion: 'trainyard.dev/v1alpha1', kind: 'BaseModel', metadata: { name: 'wrong' }, spec }
  await expect(stack.apply(object, '--dry-run=server')).rejects.toThrow('warm.max must be at least warm.min')
})
