import { randomInt } from 'node:crypto'
import { createServer, type RequestListener, type Server } from 'node:http'
import { enginePort } from '../../crds/engine-address.ts'
import type { Pool } from '../../db/pool.ts'

/** The Kubernetes objects of a fake engine. */
export interface EngineTarget {
  kubectl: (...args: string[]) => Promise<unknown>
  namespace: string
  pool: Pool
  /** A loopback address that no other program on this machine uses. */
  address: string
  /** The name of its base model. */
  baseModel: string
  /** The name of the pod; `engine` where there is only one. */
  podName?: string
}

/** A loopback address that other programs are unlikely to use. */
export function randomAddress(): string {
  return `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`
}

/** Starts a fake engine behind a ready engine pod. `answer` handles its requests. */
export async function startFakeEngine(target: EngineTarget, answer: RequestListener): Promise<Server> {
  const engine = await listenAsEngine(target.address, answer)
  try {
    await announceEngine(target)
    return engine
  } catch (error) {
    engine.close()
    throw error
  }
}

/** Answers at the port of engines. */
export async function listenAsEngine(address: string, answer: RequestListener): Promise<Server> {
  const engine = createServer(answer)
  await new Promise<void>((resolve, reject) => {
    engine.once('error', reject)
    engine.listen(enginePort, address, resolve)
  })
  return engine
}

/** Creates a ready engine pod and its base model. The caller must answer at its address. */
export async function announceEngine(target: EngineTarget): Promise<void> {
  await addEnginePod(target)
  await addBaseModel(target)
}

/** A row of the base model, as the operator writes it. */
export async function addBaseModel({
  pool,
  baseModel,
  namespace,
}: Pick<EngineTarget, 'pool' | 'baseModel' | 'namespace'>): Promise<void> {
  await pool.query(
    'INSERT INTO training.base_models (name, names, namespace, cr_name) VALUES ($1, ARRAY[$1], $2, $1)',
    [baseModel, namespace],
  )
}

/** A pod that Kubernetes calls Ready. */
export async function addEnginePod(target: Omit<EngineTarget, 'pool'>): Promise<void> {
  const { kubectl, namespace, baseModel, podName = 'engine' } = target
  const labels = `trainyard.dev/component=engine,trainyard.dev/base-model=${baseModel}`
  // No scheduler of this name exists, so that no node runs the pod.
  const overrides = JSON.stringify({ spec: { schedulerName: 'nobody' } })
  const args = ['run', podName, '--image=none', `--labels=${labels}`, `--overrides=${overrides}`, '--restart=Never']
  await kubectl('-n', namespace, ...args)
  await setEngineReady(target, true)
}

/** Has Kubernetes call an engine pod Ready or not. */
export async function setEngineReady(target: Omit<EngineTarget, 'pool'>, isReady: boolean): Promise<void> {
  const { kubectl, namespace, address, podName = 'engine' } = target
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }]
  const status = JSON.stringify({ status: { phase: 'Running', podIP: address, podIPs: [{ ip: address }], conditions } })
  await kubectl('-n', namespace, 'patch', 'pod', podName, '--subresource=status', '--type=merge', '-p', status)
}
