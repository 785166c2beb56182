import type { IncomingBytes } from '../../accounts/limits/incoming-bytes.ts'
import type { Caller } from '../../accounts/context.ts'
import { measurePart, type CallPart, type CallStart } from '../calls/parts.ts'
import type { CallWriter } from '../calls/writer.ts'
import { newId } from '../ids.ts'
import { JsonText, writeJsonText } from '../../../lib/json/json-text.ts'
import type { Project, Projects } from '../projects.ts'
import { keepInputs, type ChatInputs } from './chat-inputs.ts'
import type { CompletionRequest } from './schema.ts'

/** What calls of completions are written with. */
export interface TrackDeps {
  calls: CallWriter
  projects: Projects
}

const opName = 'weave.completions_create'

/** What became of a completion. */
export interface Outcome {
  output: JsonText | null
  /** As the engine tells it; undefined when it told none. */
  usage?: unknown
  exception?: string | undefined
}

/** Where a completion belongs. */
export interface Place {
  caller: Caller
  project: Project
}

/** What a tracked completion is asked with. */
export interface TrackedRequest {
  body: CompletionRequest
  inputs: ChatInputs
  /** Counts what the call takes. */
  incoming: IncomingBytes
}

/** The call that tells of a completion among the project's traces. */
export class TrackedCall {
  readonly id = newId()
  readonly #calls: CallWriter
  readonly #projects: Projects
  readonly #place: Place
  readonly #model: string
  readonly #start: CallStart
  readonly #incoming: IncomingBytes

  /** @throws {HttpError} 403 when the entity may not store its inputs */
  constructor({ calls, projects }: TrackDeps, place: Place, asked: TrackedRequest) {
    this.#calls = calls
    this.#projects = projects
    this.#place = place
    this.#model = asked.inputs.model
    this.#start = {
      traceId: asked.body.trace_id || newId(),
      parentId: asked.body.parent_id || null,
      opName,
      startedAt: now(),
      attributes: writeJsonText({}),
      inputs: new JsonText(keepInputs(asked.inputs)),
      wbUserId: place.caller.keyId,
    }
    this.#incoming = asked.incoming
    this.#incoming.add(measurePart({ start: this.#start }))
  }

  /** Durable when it resolves, as `end` is. */
  async begin(): Promise<void> {
    await this.#write({})
  }

  /** Tells of the whole call, begun or not. */
  async end({ output, usage, exception }: Outcome): Promise<void> {
    const summary = writeJsonText(usage === undefined ? {} : { usage: { [this.#model]: usage } })
    const end = { endedAt: now(), output, exception, summary }
    // An answer that was given is told of, also where there is no room for it.
    this.#incoming.count(measurePart({ end }))
    await this.#write({ end })
  }

  /** A completion takes long: a project that was erased meanwhile gets nothing any more, nor does one that has its name now. */
  async #write(more: Pick<CallPart, 'end'>): Promise<void> {
    const { caller, project } = this.#place
    try {
      const { number } = await this.#projects.find(caller, project.id)
      if (number === project.number) await this.#calls.write(project, [{ id: this.id, start: this.#start, ...more }])
    } finally {
      this.#incoming.keep()
    }
  }
}

/** In the form of instants.ts. */
function now(): string {
  return new Date().toISOString().replace('Z', '000Z')
}
