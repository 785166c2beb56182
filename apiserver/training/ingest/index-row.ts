import type { TrajectoryFlag } from '../../../db/trajectories/flags.ts'
import { createHash } from 'node:crypto'
import type { Static } from 'typebox'
import { isCaptured, readHistories } from '../../histories/read-histories.ts'
import type { trajectorySchema } from './group-schema.ts'

// Short enough for a database index, and still distinct.
const maxScenarioLength = 256
const maxMetrics = 100
const maxMetricNameLength = 128

/** What the index stores about a trajectory to find it again. The names are those of the database. */
export interface TrajectoryIndexRow {
  group_index: number
  trajectory_index: number
  /** The number of exceptions in its group. */
  group_exceptions: number
  scenario_id: string | null
  prompt_hash: string
  reward: number
  advantage: number | null
  metrics: Record<string, number | boolean>
  /** The number of sampled tokens. */
  tokens: number
  flags: TrajectoryFlag[]
  /** The position of its text in the stored body, in bytes. */
  payload_offset: number
  payload_length: number
}

type Trajectory = Static<typeof trajectorySchema>
type Item = Record<string, unknown>

/** The fields from the trajectory itself, for a model by its name. The others come from its group. */
export function indexTrajectory(trajectory: Trajectory, model: string) {
  const histories = readHistories(trajectory, model).map((history) => history.messages_and_choices)
  const items = histories[0] ?? []
  const choices = [...new Set(histories.flat())].filter(isChoice)
  return {
    scenario_id: readScenario(trajectory.metadata),
    prompt_hash: hashPrompt(items),
    reward: trajectory.reward ?? 0,
    metrics: pickMetrics(trajectory.metrics),
    tokens: choices.reduce((sum, choice) => sum + countTokens(choice), 0),
    flags: findFlags({ items, choices, isCaptured: isCaptured(trajectory), isSplit: histories.length > 1 }),
  }
}

/** The scenario in the metadata of a trajectory or a group. */
export function readScenario(metadata: object | null | undefined): string | null {
  const id = (metadata as Item | null | undefined)?.['scenario_id']
  if (typeof id !== 'string' && typeof id !== 'number' && typeof id !== 'boolean') return null
  return cleanText(String(id), maxScenarioLength)
}

/** Converts a scenario's id to its form in index rows. */
export function cleanScenario(id: string): string {
  return cleanText(id, maxScenarioLength)
}

/** As in the clients: a Choice was sampled, everything else is a message. */
function isChoice(item: Item): boolean {
  return 'finish_reason' in item && 'message' in item
}

/** The SHA-256 in hex of the messages before the first answer, as JSON.stringify writes their list. */
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

function findFlags(about: { items: Item[]; choices: Item[]; isCaptured: boolean; isSplit: boolean }) {
  const { items, choices } = about
  const flags: TrajectoryFlag[] = []
  if (!choices.some((choice) => listLogprobs(choice).length > 0)) flags.push('no_logprobs')
  if (choices.some((choice) => choice['finish_reason'] === 'length')) flags.push('truncated')
  if ([...items, ...choices.map((choice) => choice['message'])].some(callsTools)) flags.push('tool_calls')
  if (about.isSplit) flags.push('additional_histories')
  if (about.isCaptured) flags.push('captured')
  return flags
}

function callsTools(message: unknown): boolean {
  const calls = (message as { tool_calls?: unknown }).tool_calls
  return Array.isArray(calls) && calls.length > 0
}

// Postgres accepts no NUL in texts. Cutting a text can leave an unpaired surrogate.
function cleanText(text: string, maxLength: number): string {
  return text.slice(0, maxLength).toWellFormed().replaceAll('\0', '\uFFFD')
}
