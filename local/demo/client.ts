import { setTimeout as delay } from 'node:timers/promises'

// The tiny model's answers have about ten tokens, and its tool calls about forty.
const maxTokens = { answer: 32, call: 64 }

/**
 * A sampled choice as the gateway returns it. It is sent back unchanged, because training needs its exact token ids.
 */
export interface Choice {
  message: { role: string; content: string | null; tool_calls?: { function: { name: string; arguments: string } }[] }
  finish_reason: string
}

/** What a model is asked: with tools, it may answer with a call. */
export interface Question {
  messages: object[]
  tools?: object[]
}

export interface TrajectoryGroup {
  trajectories: { messages_and_choices: object[]; tools?: object[]; reward: number }[]
}

interface TrainingEvent {
  id: string
  type: string
  data: Record<string, unknown>
}

/** The few REST calls of the main job, as any client would make them. */
export class TrainyardClient {
  readonly url: string
  readonly #key: string
  readonly #signal: AbortSignal | null

  constructor(url: string, key: string, signal: AbortSignal | null = null) {
    this.url = url
    this.#key = key
    this.#signal = signal
  }

  /** Registers a model. Returns its id and the name for sampling. */
  async registerModel(project: string, name: string, baseModel: string): Promise<{ id: string; servedName: string }> {
    const body = { project, name, base_model: baseModel, entity: null, return_existing: true }
    const model = await this.#call<{ id: string; entity: string }>('POST', '/v1/preview/models', body)
    return { id: model.id, servedName: `wandb-artifact:///${model.entity}/${project}/${name}` }
  }

  /** Samples `n` answers to one question at temperature 1. */
  async sample(model: string, question: Question, n: number): Promise<Choice[]> {
    const limit = question.tools ? maxTokens.call : maxTokens.answer
    const body = { model, ...question, n, temperature: 1, max_completion_tokens: limit, logprobs: true }
    return (await this.#call<{ choices: Choice[] }>('POST', '/v1/chat/completions', body)).choices
  }

  /** Starts an RL training job and returns its id. */
  async train(modelId: string, groups: TrajectoryGroup[], learningRate: number): Promise<string> {
    const body = {
      model_id: modelId,
      trajectory_groups: groups,
      experimental_config: { learning_rate: learningRate },
    }
    return (await this.#call<{ id: string }>('POST', '/v1/preview/training-jobs', body)).id
  }

  /**
   * Follows a job until it has ended. Calls `onEvent` once for each event.
   *
   * @throws when the job failed, with the job's error sentence
   */
  async follow(jobId: string, onEvent: (event: TrainingEvent) => void): Promise<void> {
    for (let after = ''; ;) {
      const query = after ? `?after=${after}` : ''
      const path = `/v1/preview/training-jobs/${jobId}/events${query}`
      const page = await this.#call<{ data: TrainingEvent[] }>('GET', path)
      for (const event of page.data) {
        onEvent(event)
        after = event.id
        if (event.type === 'training_ended') return
        if (event.type === 'training_failed') throw new Error(`training failed: ${String(event.data.error_message)}`)
      }
      if (page.data.length === 0) await delay(100)
    }
  }

  async #call<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(this.url + path, {
      method,
      signal: this.#signal,
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
    return (await response.json()) as T
  }
}
