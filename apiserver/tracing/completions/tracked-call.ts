import type { IncomingBytes } from '../../accounts/limits/incoming-bytes.ts'
import type { Caller } from '../../accounts/context.ts'
import { measurePart, type CallPart, type CallStart } from '../calls/parts.ts'
import type { CallWriter } from '../calls/writer.ts'
import { newId } from '../ids.ts'
import { JsonText, writeJsonText } from '../../../lib/json/json-text.ts'
import type { Project, Projects } from '../projects.ts'
import { buildStoredInputs, type ChatInputs } from './chat-inputs.ts'
import type { CompletionRequest } from './schema.ts'

export interface TrackDeps {
  calls: CallWriter
  projects: Projects
}

const opName = 'weave.completions_create'

/** The result of a completion. */
export interface Outcome {
  output: JsonText | null
  /** The usage that the engine reported. Undefined if it reported none. */
  usage?: unknown
  exception?: string | undefined
}

/** Who requests a completion, and the project of its call. */
export interface CallOwner {
  caller: Caller
  project: Project
}

/** The request of a tracked completion. */
export interface TrackedRequest {
  body: CompletionRequest
  inputs: ChatInputs
  /** Counts the bytes of the call. */
  incoming: IncomingBytes
}

/** The call that records a completion among the project's traces. */
export class TrackedCall {
  readonly id = newId()
  readonly #calls: CallWriter
  readonly #projects: Projects
  readonly #owner: CallOwner
  readonly #model: string
  readonly #start: CallStart
  readonly #incoming: IncomingBytes

  /** @throws {HttpError} 403 when the entity may not store its inputs */
  constructor({ calls, projects }: TrackDeps, owner: CallOwner, asked: TrackedRequest) {
    this.#calls = calls
    this.#projects = projects
    this.#owner = owner
    this.#model = asked.inputs.model
    this.#start = {
      traceId: asked.body.trace_id || newId(),
      parentId: asked.body.parent_id || null,
      opName,
      startedAt: now(),
      attributes: writeJsonText({}),
      inputs: new JsonText(buildStoredInputs(asked.inputs)),
      wbUserId: owner.caller.keyId,
    }
    this.#incoming = asked.incoming
    this.#incoming.add(measurePart({ start: this.#start }))
  }

  /** The start is durable when this resolves. */
  async begin(): Promise<void> {
    await this.#write({})
  }

  /** Writes the whole call, even if `begin` was not called. It is durable when this resolves. */
  async end({ output, usage, exception }: Outcome): Promise<void> {
    const summary = writeJsonText(usage === undefined ? {} : { usage: { [this.#model]: usage } })
    const end = { endedAt: now(), output, exception, summary }
    // An answer that a client has received is recorded even when the entity's storage is full.
    this.#incoming.count(measurePart({ end }))
    await this.#write({ end })
  }

  /**
   * A completion takes long. If the project was erased meanwhile, nothing is written to it, nor to a new project of the
   * same name.
   */
  async #write(more: Pick<CallPart, 'end'>): Promise<void> {
    const { caller, project } = this.#owner
    try {
      const { number } = await this.#projects.find(caller, project.id)
      if (number === project.number) await this.#calls.write(project, [{ id: this.id, start: this.#start, ...more }])
    } finally {
      this.#incoming.keep()
    }
  }
}

/** The current time in the form of instants.ts. */
function now(): string {
  return new Date().toISOString().replace('Z', '000Z')
}
