import type { TrajectoryFlag } from '../../../db/trajectories/flags.ts'
import { createHash } from 'node:crypto'
import type { Static } from 'typebox'
import type { trajectorySchema } from './group-schema.ts'

// What fits into an index of the database, and is still distinct.
const maxScenarioLength = 256
const maxMetrics = 100
const maxMetricNameLength = 128

/** What is noted of a trajectory, so that it can be found again; in wire names, as it goes to the database. */
export interface TrajectoryIndexRow {
  group_index: number
  trajectory_index: number
  /** Of exceptions in its group. */
  group_exceptions: number
  scenario_id: string | null
  prompt_hash: string
  reward: number
  advantage: number | null
  metrics: Record<string, number | boolean>
  /** How many were sampled. */
  tokens: number
  flags: TrajectoryFlag[]
  /** Of its text in the stored body, in bytes. */
  payload_offset: number
  payload_length: number
}

type Trajectory = Static<typeof trajectorySchema>
type Item = Record<string, unknown>

/** The fields that come from the trajectory itself. The others come from its group. */
export function indexTrajectory(trajectory: Trajectory) {
  const { messages_and_choices: items, additional_histories: others } = trajectory
  const choices = [items, ...(others ?? []).map((history) => history.messages_and_choices)].flat().filter(isChoice)
  return {
    scenario_id: readScenario(trajectory.metadata),
    prompt_hash: hashPrompt(items),
    reward: trajectory.reward,
    metrics: pickMetrics(trajectory.metrics),
    tokens: choices.reduce((sum, choice) => sum + countTokens(choice), 0),
    flags: findFlags(trajectory, choices),
  }
}

/** The scenario that a trajectory's or a group's metadata name. */
export function readScenario(metadata: object | null | undefined): string | null {
  const id = (metadata as Item | null | undefined)?.['scenario_id']
  if (typeof id !== 'string' && typeof id !== 'number' && typeof id !== 'boolean') return null
  return cleanText(String(id), maxScenarioLength)
}

/** As an index row has a scenario's id. */
export function cleanScenario(id: string): string {
  return cleanText(id, maxScenarioLength)
}

/** As in the clients: a Choice was sampled, all else is a message. */
function isChoice(item: Item): boolean {
  return 'finish_reason' in item && 'message' in item
}

/** sha256 in hex of the messages before the first answer, as JSON.stringify writes their list. */
function hashPrompt(items: Item[]): string {
  const end = items.findIndex((item) => isChoice(item) || item['role'] === 'assistant')
  const prompt = end < 0 ? items : items.slice(0, end)
  return createHash('sha256').update(JSON.stringify(prompt)).digest('hex')
}

function pickMetrics(metrics: object | null | undefined): Record<string, number | boolean> {
  const entries = Object.entries((metrics ?? {}) as Record<string, unknown>)
  const telling = entries.filter(
    (entry): entry is [string, number | boolean] => typeof entry[1] === 'boolean' || Number.isFinite(entry[1]),
  )
  return Object.fromEntries(
    telling.slice(0, maxMetrics).map(([name, value]) => [cleanText(name, maxMetricNameLength), value]),
  )
}

function countTokens(choice: Item): number {
  const ids = choice['token_ids']
  return Array.isArray(ids) ? ids.length : listLogprobs(choice).length
}

function listLogprobs(choice: Item): unknown[] {
  const logprobs = choice['logprobs'] as { content?: unknown[] | null } | null | undefined
  return logprobs?.content ?? []
}

function findFlags({ messages_and_choices: items, additional_histories: others }: Trajectory, choices: Item[]) {
  const flags: TrajectoryFlag[] = []
  if (!choices.some((choice) => listLogprobs(choice).length > 0)) flags.push('no_logprobs')
  if (choices.some((choice) => choice['finish_reason'] === 'length')) flags.push('truncated')
  if ([...items, ...choices.map((choice) => choice['message'])].some(callsTools)) flags.push('tool_calls')
  if (others && others.length > 0) flags.push('additional_histories')
  return flags
}

function callsTools(message: unknown): boolean {
  const calls = (message as { tool_calls?: unknown }).tool_calls
  return Array.isArray(calls) && calls.length > 0
}

// Postgres holds no NUL in texts, and UTF-16 halves are left of a cut.
function cleanText(text: string, maxLength: number): string {
  return text.slice(0, maxLength).toWellFormed().replaceAll('\0', '\uFFFD')
}
