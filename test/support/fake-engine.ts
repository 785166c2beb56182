import { createServer, type RequestListener, type Server } from 'node:http'
import { enginePort } from '../../crds/engine-address.ts'
import type { Pool } from '../../db/pool.ts'

/** The Kubernetes objects of a fake engine. */
export interface EnginePlace {
  kubectl: (...args: string[]) => Promise<unknown>
  namespace: string
  pool: Pool
  /** A loopback address that no other program on this machine uses. */
  address: string
  /** The name of its base model. */
  baseModel: string
}

/** Starts a fake engine behind a ready engine pod. `answer` handles its requests. */
export async function startFakeEngine(place: EnginePlace, answer: RequestListener): Promise<Server> {
  const engine = createServer(answer)
  await new Promise<void>((resolve, reject) => {
    engine.once('error', reject)
    engine.listen(enginePort, place.address, resolve)
  })
  try {
    await announceEngine(place)
    return engine
  } catch (error) {
    engine.close()
    throw error
  }
}

/** Makes a ready engine pod and its base model known; whoever announces it answers at its address. */
export async function announceEngine(place: EnginePlace): Promise<void> {
  await addEnginePod(place)
  await place.pool.query(
    'INSERT INTO training.base_models (name, names, namespace, cr_name) VALUES ($1, ARRAY[$1], $2, $1)',
    [place.baseModel, place.namespace],
  )
}

async function addEnginePod({ kubectl, namespace, address, baseModel }: EnginePlace): Promise<void> {
  const labels = `trainyard.dev/component=engine,trainyard.dev/base-model=${baseModel}`
  // No scheduler of this name exists, so that no node runs the pod.
  const overrides = JSON.stringify({ spec: { schedulerName: 'nobody' } })
  const args = ['run', 'engine', '--image=none', `--labels=${labels}`, `--overrides=${overrides}`, '--restart=Never']
  await kubectl('-n', namespace, ...args)
  const conditions = [{ type: 'Ready', status: 'True' }]
  const status = JSON.stringify({ status: { phase: 'Running', podIP: address, podIPs: [{ ip: address }], conditions } })
  await kubectl('-n', namespace, 'patch', 'pod', 'engine', '--subresource=status', '--type=merge', '-p', status)
}
