import { UserError } from '../../user-error.ts'
import { namespace } from './chart.ts'
import { runKubectl, type Kubectl } from './kubectl.ts'

const checkMs = 4_000
/** While dependencies start, a container may crash this often. */
const maxCrashes = 3

interface ContainerStatus {
  name: string
  restartCount: number
  state?: { waiting?: { reason?: string } }
}

interface PodList {
  items: { metadata: { name: string }; status?: { containerStatuses?: ContainerStatus[] } }[]
}

/** A container that crashes repeatedly. */
interface CrashingContainer {
  pod: string
  container: string
  restarts: number
}

/** The containers in a crash loop. Empty while kube-apiserver does not answer. */
async function findCrashing(kubectl: Kubectl): Promise<CrashingContainer[]> {
  const args = ['get', 'pods', '--namespace', namespace, '--output', 'json']
  const output = await runKubectl(kubectl, args).catch(() => '{"items":[]}')
  return readCrashing(JSON.parse(output) as PodList)
}

/** The containers that wait for their next start because the last starts failed. */
export function readCrashing({ items }: PodList): CrashingContainer[] {
  return items.flatMap(({ metadata, status }) =>
    (status?.containerStatuses ?? [])
      .filter(({ state }) => state?.waiting?.reason === 'CrashLoopBackOff')
      .map(({ name, restartCount }) => ({ pod: metadata.name, container: name, restarts: restartCount })),
  )
}

/** The last lines in the log of a crashing container. */
async function readLogTail(kubectl: Kubectl, { pod, container }: CrashingContainer): Promise<string> {
  const args = ['logs', '--namespace', namespace, pod, '--container', container, '--tail', '12']
  return (await runKubectl(kubectl, args)).trimEnd()
}

/** Looks for crashing pods during a wait, because waiting longer does not repair them. */
export class CrashWatch {
  readonly #kubectl: Kubectl
  readonly #restartsAtFirst = new Map<string, number>()
  #checkedAt = Date.now()

  constructor(kubectl: Kubectl) {
    this.#kubectl = kubectl
  }

  /** @throws {Problem} with the end of the log of a container that crashes repeatedly */
  async check(): Promise<void> {
    if (Date.now() - this.#checkedAt < checkMs) return
    this.#checkedAt = Date.now()
    for (const crashing of await findCrashing(this.#kubectl)) {
      const { pod, container, restarts } = crashing
      // Pods survive restarts of the stack and keep their counts.
      const before = this.#restartsAtFirst.get(pod) ?? restarts - 1
      this.#restartsAtFirst.set(pod, before)
      if (restarts - before < maxCrashes) continue
      const words = await readLogTail(this.#kubectl, crashing)
      throw new UserError(`${words}\n${container} in pod ${pod} keeps crashing; its last output is above.`)
    }
  }
}
