import { setTimeout as delay } from 'node:timers/promises'
import { labels } from '../../../crds/names.ts'
import type { Logger } from '../../../lib/log.ts'
import type { Kube, Pod } from '../../kube.ts'

const freshForMs = 1_000
// With a list in hand, kube-apiserver is not waited for longer: the last known pods mostly still answer.
const patienceMs = 250

/** An engine pod that requests can be sent to. */
export interface EnginePod {
  name: string
  ip: string
}

export interface EnginePods {
  /** The Ready engine pods of a base model, at most about a second old, older while Kubernetes is away. */
  listReady(baseModelCrName: string): Promise<EnginePod[]>
}

/** Engine pods as Kubernetes lists them, remembered for a second, and kept while it does not answer. */
export function createEnginePods(kube: Pick<Kube, 'listPods'>, log: Logger): EnginePods {
  let known: Pod[] | undefined
  let readAtMs = -Infinity
  let reading: Promise<void> | undefined

  const read = async () => {
    try {
      known = await kube.listPods(`${labels.component}=engine`)
    } catch (error) {
      log.warn({ error }, 'engine pods not listed')
    } finally {
      readAtMs = performance.now()
      reading = undefined
    }
  }

  return {
    async listReady(baseModelCrName) {
      if (performance.now() - readAtMs > freshForMs) {
        reading ??= read()
        await (known ? Promise.race([reading, delay(patienceMs, undefined, { ref: false })]) : reading)
      }
      return (known ?? []).flatMap(({ name, ip, ready, labels: own }) =>
        ready && ip && own[labels.baseModel] === baseModelCrName ? [{ name, ip }] : [],
      )
    },
  }
}
