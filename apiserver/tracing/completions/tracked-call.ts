import type { Caller } from '../../middleware/context.ts'
import type { CallStart } from '../calls/parts.ts'
import type { TraceDeps } from '../deps.ts'
import { newId } from '../ids.ts'
import { JsonText } from '../json/text.ts'
import { writeJsonText } from '../json/write.ts'
import type { Project } from '../projects.ts'
import { keepInputs, type ChatInputs } from './chat-inputs.ts'
import type { CompletionRequest } from './schema.ts'

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

/** The call that tells of a completion among the project's traces. */
export class TrackedCall {
  readonly id = newId()
  readonly #calls: TraceDeps['calls']
  readonly #project: Project
  readonly #model: string
  readonly #start: CallStart

  constructor(
    { calls }: Pick<TraceDeps, 'calls'>,
    place: Place,
    asked: { body: CompletionRequest; inputs: ChatInputs },
  ) {
    this.#calls = calls
    this.#project = place.project
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
  }

  /** Durable when it resolves, as `end` is. */
  async begin(): Promise<void> {
    await this.#calls.write(this.#project, [{ id: this.id, start: this.#start }])
  }

  /** Tells of the whole call, begun or not. */
  async end({ output, usage, exception }: Outcome): Promise<void> {
    const summary = writeJsonText(usage === undefined ? {} : { usage: { [this.#model]: usage } })
    const end = { endedAt: now(), output, exception, summary }
    await this.#calls.write(this.#project, [{ id: this.id, start: this.#start, end }])
  }
}

/** In the form of instants.ts. */
function now(): string {
  return new Date().toISOString().replace('Z', '000Z')
}
