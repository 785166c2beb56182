import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { eventually } from './eventually.ts'
import type { ApiStack } from './services.ts'

export interface TrainingEvent {
  id: string
  type: string
  data: Record<string, unknown>
}

export interface Checkpoint {
  id: string
  step: number
  metrics: Record<string, number>
}

interface List<T> {
  object: string
  data: T[]
  has_more: boolean
  first_id: string
  last_id: string
}

export interface TrajectoryGroup {
  trajectories: { messages_and_choices: object[]; reward: number }[]
}

/** A choice as the gateway returns it. */
export interface Choice {
  message: { role: string; content: string }
  token_ids?: number[]
  logprobs?: { content: { token: string; logprob: number; bytes: number[] | null }[] } | null
  finish_reason: string
}

type RestStack = Pick<ApiStack, 'url'> & Partial<Pick<ApiStack, 'apiKey' | 'baseModel'>>

/** A client of a stack's REST interface, with its key or another one. */
export function createRest(stack: RestStack, key = stack.apiKey) {
  const authorization = `Bearer ${key}`
  const send = (method: string, path: string, body?: unknown, signal?: AbortSignal) =>
    fetch(stack.url + path, {
      method,
      ...(signal && { signal }),
      headers: { authorization, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })

  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await send(method, path, body)
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as T
  }

  /** Uploads a data set. */
  const upload = async <T>(path: string, rows: string): Promise<T> => {
    const headers = { authorization, 'content-type': 'application/jsonl' }
    const response = await fetch(stack.url + path, { method: 'PUT', headers, body: rows })
    if (!response.ok) throw new Error(`PUT ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as T
  }

  const listAll = async <T extends { id: string }>(path: string): Promise<T[]> => {
    const items: T[] = []
    for (let after = ''; ; after = `&after=${items.at(-1)?.id}`) {
      const page = await call<List<T>>('GET', `${path}?limit=100${after}`)
      items.push(...page.data)
      if (!page.has_more) return items
    }
  }

  const createModel = async (name = `model-${randomUUID()}`) => {
    const body = { project: 'tests', name, base_model: stack.baseModel }
    const model = await call<{ id: string; entity: string; name: string }>('POST', '/v1/preview/models', body)
    return { ...model, address: `wandb-artifact:///${model.entity}/tests/${model.name}` }
  }

  const sample = async (model: string, prompt: string, options: Record<string, unknown> = {}): Promise<Choice[]> => {
    const body = { model, messages: [{ role: 'user', content: prompt }], max_completion_tokens: 24, ...options }
    return (await call<{ choices: Choice[] }>('POST', '/v1/chat/completions', body)).choices
  }

  const startJob = async (modelId: string, groups: TrajectoryGroup[], config: Record<string, unknown> = {}) => {
    const body = {
      model_id: modelId,
      trajectory_groups: groups,
      experimental_config: { learning_rate: 1e-3, ...config },
    }
    return (await call<{ id: string }>('POST', '/v1/preview/training-jobs', body)).id
  }

  const listEvents = (jobId: string) => listAll<TrainingEvent>(`/v1/preview/training-jobs/${jobId}/events`)
  const listCheckpoints = (modelId: string) => listAll<Checkpoint>(`/v1/preview/models/${modelId}/checkpoints`)

  /** Returns all events of a job after it has ended in any state. */
  const waitForEnd = (jobId: string, timeoutMs = 120_000) =>
    eventually(async () => {
      const events = await listEvents(jobId)
      expect(['training_ended', 'training_failed']).toContain(events.at(-1)?.type)
      return events
    }, timeoutMs)

  return { send, call, upload, createModel, sample, startJob, listAll, listEvents, listCheckpoints, waitForEnd }
}

export type Rest = ReturnType<typeof createRest>

/** Samples a group: `n` answers to a prompt. `reward` computes each answer's reward from its text. */
export async function sampleGroup(
  rest: Rest,
  model: string,
  prompt: string,
  reward: (text: string, index: number) => number,
  n = 8,
): Promise<TrajectoryGroup> {
  const choices = await rest.sample(model, prompt, { n })
  return {
    trajectories: choices.map((choice, index) => ({
      messages_and_choices: [{ role: 'user', content: prompt }, choice],
      reward: reward(choice.message.content, index),
    })),
  }
}
