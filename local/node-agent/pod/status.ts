import type { Container, ContainerStatus, Pod, PodCondition, PodStatus } from '../objects.ts'
import type { Run, RunExit } from '../container/run.ts'

/** The state of one container, as its keeper observes it. */
export interface ContainerView {
  spec: Container
  /** Newest first. */
  runs: Run[]
  /** Why the container does not run now. Absent when it runs, or has ended for good. */
  waiting?: { reason: string; message?: string }
  started: boolean
  ready: boolean
}

/** The state of a pod. */
export interface PodView {
  podIP: string
  startTime: string
  init: ContainerView[]
  main: ContainerView[]
  /** Set when the pod has failed, regardless of its containers. */
  failure?: { reason: string; message: string }
  /** The pod is being deleted, or stopped with the node. Ended containers do not restart. */
  ending: boolean
}

/** Builds the status that a pod should have. A condition keeps its transition time while its status stays the same. */
export function buildPodStatus(pod: Pod, view: PodView, now: string): PodStatus {
  const phase = decidePhase(pod, view)
  const generation = pod.metadata?.generation
  return {
    phase,
    conditions: buildConditions(pod, view, phase, now),
    hostIP: '127.0.0.1',
    hostIPs: [{ ip: '127.0.0.1' }],
    ...(view.podIP && { podIP: view.podIP, podIPs: [{ ip: view.podIP }] }),
    startTime: view.startTime,
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(view.failure && { reason: view.failure.reason, message: view.failure.message }),
    ...(view.init.length > 0 && {
      initContainerStatuses: view.init.map((container) => buildContainerStatus(pod, container, view.failure)),
    }),
    containerStatuses: view.main.map((container) => buildContainerStatus(pod, container, view.failure)),
  }
}

/** The id of a container's run. It is never reused. */
export function containerId(pod: Pod, name: string, run: Run): string {
  return `local://${pod.metadata?.uid}/${name}/${run.number}`
}

/** Whether a container has ended and the pod's policy does not restart it. */
export function isOver(pod: Pod, container: ContainerView, isInit: boolean): boolean {
  const exit = container.runs[0]?.exit
  if (!exit || container.runs[0]?.interrupted) return false
  const policy = pod.spec?.restartPolicy ?? 'Always'
  if (isInit) return exit.code === 0 || policy === 'Never'
  return policy === 'Never' || (policy === 'OnFailure' && exit.code === 0)
}

function decidePhase(pod: Pod, view: PodView): string {
  if (view.failure) return 'Failed'
  const all = [...view.init, ...view.main]
  const isEnded = (container: ContainerView) => container.runs.length === 0 || container.runs[0]?.exit !== undefined
  const hasFailed = (container: ContainerView) => container.runs[0]?.exit?.code !== 0
  if (pod.metadata?.deletionTimestamp && all.every(isEnded)) return view.main.some(hasFailed) ? 'Failed' : 'Succeeded'
  if (view.init.some((container) => isOver(pod, container, true) && hasFailed(container))) return 'Failed'
  if (view.main.every((container) => isOver(pod, container, false))) {
    return view.main.some(hasFailed) ? 'Failed' : 'Succeeded'
  }
  return view.main.every((container) => container.runs.length > 0) ? 'Running' : 'Pending'
}

function buildConditions(pod: Pod, view: PodView, phase: string, now: string): PodCondition[] {
  const initialized = explain(view.init, isComplete, 'ContainersNotInitialized', 'incomplete')
  const isFinished = phase === 'Succeeded' || phase === 'Failed'
  const ready = isFinished
    ? { reason: phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed' }
    : explain(view.main, (container) => container.ready && !view.ending, 'ContainersNotReady', 'unready')
  const wanted = [
    { type: 'PodScheduled', reason: undefined },
    { type: 'Initialized', reason: initialized },
    { type: 'ContainersReady', reason: ready },
    { type: 'Ready', reason: ready },
  ]
  const known = pod.status?.conditions ?? []
  const others = known.filter((condition) => !wanted.some(({ type }) => type === condition.type))
  return [...others, ...wanted.map(({ type, reason }) => buildCondition(pod, type, reason, now))]
}

type StatusReason = { reason: string; message?: string } | undefined

function buildCondition(pod: Pod, type: string, reason: StatusReason, now: string): PodCondition {
  const before = pod.status?.conditions?.find((condition) => condition.type === type)
  const status = reason ? 'False' : 'True'
  const generation = pod.metadata?.generation
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : undefined
  return {
    type,
    status,
    // kube-apiserver returns this member. Without it, each status would look changed.
    lastProbeTime: null,
    lastTransitionTime: lastTransitionTime ?? now,
    ...(generation !== undefined && { observedGeneration: generation }),
    ...reason,
  } as unknown as PodCondition
}

function explain(
  containers: ContainerView[],
  isFine: (container: ContainerView) => boolean,
  reason: string,
  word: string,
): StatusReason {
  const bad = containers.filter((container) => !isFine(container)).map((container) => container.spec.name)
  return bad.length > 0 ? { reason, message: `containers with ${word} status: [${bad.join(' ')}]` } : undefined
}

function isComplete(container: ContainerView): boolean {
  return container.runs[0]?.exit?.code === 0
}

function buildContainerStatus(pod: Pod, view: ContainerView, failure: PodView['failure']): ContainerStatus {
  const [newest, previous] = view.runs
  const isRunning = newest !== undefined && !newest.exit && !view.waiting
  // While the container waits, the newest run is the last one. Otherwise it is the one before.
  const last = view.waiting ? newest : previous
  return {
    name: view.spec.name,
    image: view.spec.image ?? '',
    imageID: newest ? (view.spec.image ?? '') : '',
    ...(newest && { containerID: containerId(pod, view.spec.name, newest) }),
    restartCount: newest?.number ?? 0,
    started: isRunning && view.started,
    ready: view.ready,
    state: buildState(pod, view, failure),
    lastState: last?.exit ? { terminated: buildTerminated(pod, view.spec.name, last, last.exit) } : {},
  } as ContainerStatus
}

function buildState(pod: Pod, view: ContainerView, failure: PodView['failure']): object {
  const newest = view.runs[0]
  if (view.waiting) return { waiting: view.waiting }
  // `kubectl get` shows the reason of a pod that never starts only if its containers have it too.
  if (!newest) return { waiting: failure ?? { reason: 'ContainerCreating' } }
  if (newest.exit) return { terminated: buildTerminated(pod, view.spec.name, newest, newest.exit) }
  return { running: { startedAt: toSeconds(newest.startedAt) } }
}

function buildTerminated(pod: Pod, name: string, run: Run, exit: RunExit): object {
  return {
    exitCode: exit.code,
    reason: exit.reason ?? (exit.code === 0 ? 'Completed' : 'Error'),
    ...(exit.message && { message: exit.message }),
    startedAt: toSeconds(run.startedAt),
    finishedAt: toSeconds(exit.finishedAt),
    containerID: containerId(pod, name, run),
  }
}

/** Times in Kubernetes objects have whole seconds. */
export function toSeconds(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z')
}
