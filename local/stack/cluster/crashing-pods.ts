import { UserError } from '../../user-error.ts'
import { namespace } from './chart.ts'
import { runKubectl, type Kubectl } from './kubectl.ts'

const checkMs = 4_000
/** A container may crash this often while its dependencies are still starting. */
const maxCrashes = 3

interface ContainerStatus {
  name: string
  restartCount: number
  state?: { waiting?: { reason?: string } }
}

interface PodList {
  items: { metadata: { name: string }; status?: { containerStatuses?: ContainerStatus[] } }[]
}

/** A container that ends again and again. */
interface CrashingContainer {
  pod: string
  container: string
  restarts: number
}

/** The containers in a crash loop; an empty list while kube-apiserver does not answer. */
async function findCrashing(kubectl: Kubectl): Promise<CrashingContainer[]> {
  const args = ['get', 'pods', '--namespace', namespace, '--output', 'json']
  const output = await runKubectl(kubectl, args).catch(() => '{"items":[]}')
  return readCrashing(JSON.parse(output) as PodList)
}

/** The containers that wait before their next start because the last ones failed. */
export function readCrashing({ items }: PodList): CrashingContainer[] {
  return items.flatMap(({ metadata, status }) =>
    (status?.containerStatuses ?? [])
      .filter(({ state }) => state?.waiting?.reason === 'CrashLoopBackOff')
      .map(({ name, restartCount }) => ({ pod: metadata.name, container: name, restarts: restartCount })),
  )
}

/** The last lines that a crashing container wrote. */
async function readLogTail(kubectl: Kubectl, { pod, container }: CrashingContainer): Promise<string> {
  const args = ['logs', '--namespace', namespace, pod, '--container', container, '--tail', '12']
  return (await runKubectl(kubectl, args)).trimEnd()
}

/** Looks for pods that crash again and again during a wait: waiting longer does not repair them. */
export class CrashWatch {
  readonly #kubectl: Kubectl
  readonly #restartsAtFirst = new Map<string, number>()
  #checkedAt = Date.now()

  constructor(kubectl: Kubectl) {
    this.#kubectl = kubectl
  }

  /** @throws {UserError} with the end of the log of a container that only crashes */
  async check(): Promise<void> {
    if (Date.now() - this.#checkedAt < checkMs) return
    this.#checkedAt = Date.now()
    for (const crashing of await findCrashing(this.#kubectl)) {
      const { pod, container, restarts } = crashing
      // Pods live on from earlier starts of the stack, with what they counted then.
      const before = this.#restartsAtFirst.get(pod) ?? restarts - 1
      this.#restartsAtFirst.set(pod, before)
      if (restarts - before < maxCrashes) continue
      const words = await readLogTail(this.#kubectl, crashing)
      throw new UserError(`${words}\n${container} in pod ${pod} only crashes; its last words stand above.`)
    }
  }
}
