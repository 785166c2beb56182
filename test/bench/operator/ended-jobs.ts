import { setTimeout as delay } from 'node:timers/promises'
import { apiVersion, conditions } from '../../../crds/names.ts'
import type { TrainingJob } from '../../../crds/generated.ts'
import { customPath } from '../../../crds/paths.ts'
import { keyOf } from '../../../lib/kube/objects.ts'
import { Reflector } from '../../../lib/kube/reflector.ts'
import { createLogger } from '../../../lib/log.ts'
import type { Plane } from './plane.ts'

const maxSilenceMs = 120_000

/** Counts the TrainingJobs whose status says that they have ended. */
export class EndedJobs {
  readonly #reflector: Reflector<TrainingJob>
  readonly #isLost: () => boolean
  readonly #ended = new Set<string>()
  #failed: string | undefined
  #changedAt = performance.now()

  constructor({ client, namespace, isLost }: Pick<Plane, 'client' | 'namespace' | 'isLost'>) {
    this.#isLost = isLost
    this.#reflector = new Reflector<TrainingJob>({
      client,
      kind: 'TrainingJob',
      apiVersion,
      path: customPath('TrainingJob', namespace),
      // Only the keys are kept.
      compact: ({ metadata: { name, namespace: place, resourceVersion }, spec, status }) =>
        ({
          metadata: { name, namespace: place, resourceVersion },
          spec: { modelRef: spec.modelRef },
          status,
        }) as TrainingJob,
      onChange: (job) => this.#observe(job),
      log: createLogger('bench', 'silent'),
    })
    this.#reflector.start()
  }

  get count(): number {
    return this.#ended.size
  }

  /** Waits until this many jobs have ended, all of them well. */
  async waitFor(count: number): Promise<void> {
    this.#changedAt = performance.now()
    while (this.#ended.size < count) {
      if (this.#isLost()) throw new Error('the operator has ended: this machine is too busy')
      if (this.#failed !== undefined) throw new Error(`a job did not succeed: ${this.#failed}`)
      if (performance.now() - this.#changedAt > maxSilenceMs)
        throw new Error(`${this.#ended.size} of ${count} jobs have ended, and no other one`)
      await delay(10)
    }
  }

  stop(): Promise<void> {
    return this.#reflector.stop()
  }

  #observe(job: TrainingJob): void {
    const finished = job.status?.conditions?.find(({ type }) => type === conditions.finished)
    if (finished?.status !== 'True') return
    this.#ended.add(keyOf(job))
    this.#changedAt = performance.now()
    if (job.status?.phase !== 'Succeeded') this.#failed = `${job.status?.phase} ${job.status?.message}`
  }
}
