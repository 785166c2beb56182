import path from 'node:path'
import { runAction } from '../probes/actions.ts'
import { countCrashes, crashDelayMs } from './backoff.ts'
import { buildCommand, findMounts, runMark } from './command.ts'
import type { Container, Pod } from '../objects.ts'
import { launch, LaunchError } from './launch.ts'
import { rotateLog } from './logs.ts'
import type { PodContext } from '../pod/pod-context.ts'
import { killMarked } from './process-table.ts'
import { Probes } from '../probes/probes.ts'
import { createRun, listRuns, markInterrupted, readRun, recordExit, type Run } from './run.ts'
import { containerId, isOver, type ContainerView } from '../pod/status.ts'
import { Stopping } from './stopping.ts'
import { readTerminationMessage } from './termination-message.ts'

// A run that an earlier agent started is not our child, so its end is found by polling.
const pollMs = 500
const configRetryMs = 2000
// A kubelet shows ErrImagePull this long before it shows ImagePullBackOff.
const imageErrorMs = 10_000

const nodeStopped = { reason: 'NodeStopped', message: 'ended with its node, and starts again with it' }

/** Keeps a container of a pod in its desired state. The state is read from the run folders and the process table. */
export class ContainerKeeper {
  readonly spec: Container
  readonly #context: PodContext
  readonly #isInit: boolean
  readonly #folder: string
  #runs: Run[] | undefined
  #waiting: { reason: string; message?: string } | undefined
  #imageMissingSince: number | undefined
  #probes: Probes | undefined
  #stopping: Stopping | undefined
  /** Whether the shim is a child of this agent, so that its end wakes the worker. */
  #isWatched = false

  constructor(context: PodContext, spec: Container, isInit: boolean) {
    this.#context = context
    this.spec = spec
    this.#isInit = isInit
    this.#folder = context.folder.container(spec.name)
  }

  /** Reads the current state of the container's runs. */
  async observe(): Promise<void> {
    if (!this.#runs) {
      this.#runs = await listRuns(this.#folder)
      for (const run of this.#runs) if (run.exit) await this.#close(run)
    }
    const [newest, ...older] = this.#runs
    if (!newest || newest.exit) return
    const now = (await readRun(this.#folder, newest.number)) ?? newest
    this.#runs = [now, ...older]
    if (!now.exit) return rotateLog(now.folder)
    // As in a container, no process outlives the main process. The shim kills its group, unless it was killed itself.
    killMarked(runMark, now.folder)
    await this.#close(now)
  }

  get isRunning(): boolean {
    const newest = this.#runs?.[0]
    return newest !== undefined && !newest.exit
  }

  get view(): ContainerView {
    const runs = this.#runs ?? []
    const { started, ready } = this.#probes ?? { started: false, ready: false }
    const isReady = this.#isInit ? runs[0]?.exit?.code === 0 : this.isRunning && ready && !this.#stopping
    // The status is waiting instead of terminated, because kube-apiserver does not let an ended container of a one-shot
    // pod run again.
    const isInterrupted = runs[0]?.interrupted ? nodeStopped : undefined
    const waiting = this.isRunning ? undefined : (this.#waiting ?? isInterrupted)
    return { spec: this.spec, runs, started, ready: isReady, ...(waiting && { waiting }) }
  }

  /** Records why the container does not start yet. */
  hold(reason: string): void {
    if (!this.isRunning && !this.#runs?.length) this.#waiting = { reason }
  }

  /** Starts, restarts or watches the container. @returns the milliseconds until the next call */
  async keep(pod: Pod): Promise<number> {
    const newest = this.#runs?.[0]
    if (newest && !newest.exit) return this.#tend(pod, newest)
    if (isOver(pod, this.view, this.#isInit)) {
      this.#waiting = undefined
      return Infinity
    }
    const delayMs = newest ? this.#countDelay(newest) : 0
    if (delayMs > 0) return this.#backOff(delayMs)
    return this.#start(pod)
  }

  /** Stops the container by the deadline. @returns the milliseconds until the next call */
  stop(deadline: number, why: string): number {
    const newest = this.#runs?.[0]
    if (!newest || newest.exit) {
      this.#waiting = newest ? undefined : this.#waiting
      return Infinity
    }
    if (!this.#stopping) {
      this.#context.events.normal(this.#context.subject, 'Killing', `Stopping container ${this.spec.name}: ${why}`)
      this.#stopping = new Stopping(newest, deadline, this.#findPreStop(newest))
      this.#probes?.stop()
    }
    this.#stopping.hasten(deadline)
    return Math.min(this.#stopping.advance(), this.#isWatched ? Infinity : pollMs)
  }

  /** Records that the run will continue after the node's next start. The run is stopped after this. */
  async interrupt(): Promise<void> {
    const newest = this.#runs?.[0]
    if (newest && !newest.exit && !newest.interrupted) await markInterrupted(newest)
  }

  async #close(run: Run): Promise<void> {
    this.#probes?.stop()
    this.#probes = undefined
    this.#stopping = undefined
    this.#isWatched = false
    const message = await readTerminationMessage(this.spec, run)
    if (run.exit && message && !run.exit.message) run.exit.message = message
  }

  #tend(pod: Pod, run: Run): number {
    this.#waiting = undefined
    this.#probes ??= this.#startProbes(pod, run)
    const { failed } = this.#probes
    if (!failed && !this.#stopping) return this.#isWatched ? Infinity : pollMs
    const graceSeconds = failed?.probe.terminationGracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? 30
    const why = `failed ${failed?.kind.toLowerCase() ?? 'a'} probe, will be restarted`
    if (!this.#stopping) return this.stop(Date.now() + graceSeconds * 1000, why)
    return this.stop(Infinity, why)
  }

  #startProbes(pod: Pod, run: Run): Probes {
    const reported = pod.status?.containerStatuses?.find((status) => status.name === this.spec.name)
    const isSame = reported?.containerID === containerId(pod, this.spec.name, run)
    const mounts = findMounts(this.#context, pod, this.spec, { runFolder: run.folder })
    return new Probes({
      target: { container: this.spec, podIP: this.#context.podIP, mounts, pid: run.main?.pid ?? 0 },
      startedAt: run.startedAt,
      known: { started: isSame && reported?.started === true, ready: isSame && (reported?.ready ?? false) },
      onChange: this.#context.wake,
      onFailure: (kind, message) =>
        this.#context.events.warn(this.#context.subject, 'Unhealthy', `${kind} probe failed: ${message}`),
    })
  }

  #findPreStop(run: Run): (() => Promise<void>) | undefined {
    const hook = this.spec.lifecycle?.preStop
    if (!hook || !run.main) return undefined
    if (hook.sleep)
      return () => new Promise((resolve) => setTimeout(resolve, (hook.sleep?.seconds ?? 0) * 1000).unref())
    const target = { container: this.spec, podIP: this.#context.podIP, mounts: [], pid: run.main.pid }
    return () => runAction(hook, target, 600_000)
  }

  #countDelay(run: Run): number {
    if (!run.exit || run.interrupted) return 0
    return run.exit.finishedAt.getTime() + crashDelayMs(countRunCrashes(run)) - Date.now()
  }

  #backOff(delayMs: number): number {
    const { subject, events } = this.#context
    const name = `container=${this.spec.name} pod=${subject.name}_${subject.namespace}(${subject.uid})`
    if (this.#waiting?.reason !== 'CrashLoopBackOff') {
      events.warn(subject, 'BackOff', `Back-off restarting failed container ${this.spec.name} in pod ${subject.name}`)
    }
    this.#waiting ??= {
      reason: 'CrashLoopBackOff',
      message: `back-off ${Math.ceil(delayMs / 1000)}s restarting failed ${name}`,
    }
    return delayMs
  }

  async #start(pod: Pod): Promise<number> {
    const image = this.#context.config.images[this.spec.image ?? '']
    if (!image) return this.#rejectImage()
    const newest = this.#runs?.[0]
    const number = newest ? newest.number + 1 : countReportedRuns(pod, this.spec.name)
    try {
      const runFolder = path.join(this.#folder, String(number))
      const command = await buildCommand(this.#context, pod, this.spec, image, runFolder)
      const crashes = newest && !newest.interrupted ? countRunCrashes(newest) : 0
      const run = await createRun(this.#folder, number, crashes)
      this.#runs = [run, ...(newest ? [newest] : [])]
      this.#waiting = undefined
      const started = await this.#launch(run, command)
      this.#runs[0] = started
      if (started.exit) await this.#close(started)
    } catch (error) {
      return this.#reportConfigError(error)
    }
    return this.keep(pod)
  }

  async #launch(run: Run, command: Parameters<typeof launch>[1]): Promise<Run> {
    const { events, subject } = this.#context
    events.normal(subject, 'Pulled', `Image "${this.spec.image}" is known to the local node`)
    events.normal(subject, 'Created', `Created container ${this.spec.name}`)
    try {
      const started = await launch(run, command, () => {
        this.#isWatched = false
        this.#context.wake()
      })
      this.#isWatched = true
      events.normal(subject, 'Started', `Started container ${this.spec.name}`)
      return started
    } catch (error) {
      if (!(error instanceof LaunchError)) throw error
      events.warn(subject, 'Failed', `Error: ${error.message}`)
      return { ...run, exit: await recordExit(run, { code: 128, reason: 'StartError', message: error.message }) }
    }
  }

  #rejectImage(): number {
    const { subject, events } = this.#context
    this.#imageMissingSince ??= Date.now()
    const message = `image ${this.spec.image} is not known to the local node`
    const isNew = Date.now() - this.#imageMissingSince < imageErrorMs
    const reason = isNew ? 'ErrImagePull' : 'ImagePullBackOff'
    if (this.#waiting?.reason !== reason) {
      events.warn(subject, 'Failed', `Error: ${reason}: ${message}`)
      this.#waiting = { reason, message: isNew ? message : `Back-off pulling image "${this.spec.image}": ${message}` }
    }
    return imageErrorMs
  }

  #reportConfigError(error: unknown): number {
    const message = error instanceof Error ? error.message : String(error)
    this.#waiting = { reason: 'CreateContainerConfigError', message }
    this.#context.events.warn(this.#context.subject, 'Failed', `Error: ${message}`)
    return configRetryMs
  }
}

function countRunCrashes(run: Run): number {
  const ranMs = (run.exit?.finishedAt.getTime() ?? Date.now()) - run.startedAt.getTime()
  return countCrashes(run.crashes, ranMs)
}

/** The number of the next run, from the pod's status, if the run folders are lost. */
function countReportedRuns(pod: Pod, name: string): number {
  const reported = pod.status?.containerStatuses?.find((status) => status.name === name)
  return reported?.containerID ? (reported.restartCount ?? 0) + 1 : 0
}
