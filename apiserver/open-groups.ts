import type { Config } from './config.ts'
import type { Console } from './console/open-console.ts'
import type { openInference, Inference } from './inference/open-inference.ts'
import type { ChatRecorder } from './tracing/chats/chat-recorder.ts'
import type { openTracing, Tracing } from './tracing/open-tracing.ts'
import type { openTraceWriting, TraceWriting } from './tracing/open-writing.ts'
import type { openTraining, Training } from './training/open-training.ts'
import type { openWandb, Wandb } from './wandb/open-wandb.ts'
import { readGroups, type Groups } from './groups.ts'

/** The parts that groups share. Each group declares which of them it needs. */
type SharedParts = Parameters<typeof openTraining>[1] &
  Parameters<typeof openTraceWriting>[0] &
  Omit<Parameters<typeof openInference>[1], 'traces'> &
  Omit<Parameters<typeof openTracing>[0], 'gateway' | 'writing'> &
  Omit<Parameters<typeof openWandb>[0], 'traceProjects' | 'hasTraining'>

/** The groups that a server has. */
export interface OpenGroups {
  names: Groups
  training: Training | undefined
  inference: Inference | undefined
  tracing: Tracing | undefined
  /** What the wandb SDK speaks. It belongs to training and tracing, and has the subjects of those that are served. */
  wandb: Wandb | undefined
  console: Console | undefined
  /** Records chats of the inference group. The shutdown waits for its end after the last answer. */
  chats: ChatRecorder | undefined
}

/** Loads and opens the groups that the configuration names. The code of other groups is not loaded. @throws {ConfigError} */
export async function openGroups(config: Config, shared: SharedParts): Promise<OpenGroups> {
  const names = readGroups(config.TRAINYARD_GROUPS)
  const traces = names.has('inference') || names.has('tracing') ? await loadTraceWriting(shared) : undefined
  const inference = names.has('inference') && traces ? await loadInference(config, shared, traces) : undefined
  const tracing = names.has('tracing') && traces ? await loadTracing(shared, traces, inference) : undefined
  const training = names.has('training') ? await loadTraining(config, shared) : undefined
  const wandb = training || tracing ? await loadWandb(shared, tracing && traces, training !== undefined) : undefined
  const console = names.has('console') ? await loadConsole(config) : undefined
  return { names, training, inference, tracing, wandb, console, chats: traces?.chats }
}

async function loadTraining(config: Config, shared: SharedParts): Promise<Training> {
  const { openTraining } = await import('./training/open-training.ts')
  return openTraining(config, shared)
}

async function loadConsole(config: Config): Promise<Console> {
  const { openConsole } = await import('./console/open-console.ts')
  return openConsole(config.TRAINYARD_CONSOLE_FOLDER)
}

async function loadTraceWriting(shared: SharedParts): Promise<TraceWriting> {
  const { openTraceWriting } = await import('./tracing/open-writing.ts')
  return openTraceWriting(shared)
}

async function loadInference(config: Config, shared: SharedParts, { chats }: TraceWriting): Promise<Inference> {
  const { openInference } = await import('./inference/open-inference.ts')
  return openInference(config, { ...shared, traces: chats })
}

async function loadTracing(
  shared: SharedParts,
  { writing }: TraceWriting,
  inference: Inference | undefined,
): Promise<Tracing> {
  const { openTracing } = await import('./tracing/open-tracing.ts')
  return openTracing({ ...shared, writing, gateway: inference?.deps })
}

async function loadWandb(shared: SharedParts, traces: TraceWriting | undefined, hasTraining: boolean): Promise<Wandb> {
  const { openWandb } = await import('./wandb/open-wandb.ts')
  return openWandb({ ...shared, traceProjects: traces?.writing.projects, hasTraining })
}
