import { badRequest } from '../errors.ts'
import { turnOf } from '../../accounts/limits/turn.ts'
import type { Caller } from '../../accounts/context.ts'
import type { ProjectDeps } from '../projects.ts'
import type { ValueChecker } from './value-checker.ts'
import { parseUpTo, writeValue, type Value } from '../../../lib/json/value.ts'
import { resolveRefs } from '../refs/resolve-refs.ts'

/** What feedback is checked and stored with. */
export interface FeedbackDeps extends ProjectDeps {
  values: ValueChecker
}

// Of a specification, whose schema may have far less; so it need not be counted with what requests read.
const bounds = { maxBytes: 1024 * 1024, reserve: () => {} }

const className = 'AnnotationSpec'

// A request of usual schemas takes some milliseconds; a hostile one may take a second for each of its values.
const defaultBudgetMs = 10_000

/** The annotations of one request: each specification is read once, and all of them have some time together. */
export class AnnotationChecks {
  readonly #deps: FeedbackDeps
  readonly #caller: Caller
  /** Texts, by references. */
  readonly #schemas = new Map<string, string>()
  #leftMs: number

  constructor(deps: FeedbackDeps, caller: Caller, budgetMs = defaultBudgetMs) {
    this.#deps = deps
    this.#caller = caller
    this.#leftMs = budgetMs
  }

  /**
   * Checks a value by the annotation specification that a reference names.
   *
   * @throws {HttpError} 400 for what is no specification, a value that it does not allow, or when there is no time
   * left, 404 when it is not there
   */
  async check({ ref, value }: { ref: string; value: string }): Promise<void> {
    if (this.#leftMs <= 0)
      throw badRequest(
        'Checking the annotations of this request takes too long. Send fewer annotations, or simplify the schema.',
      )
    const startMs = performance.now()
    const schema = this.#schemas.get(ref) ?? (await this.#readSchema(ref))
    this.#schemas.set(ref, schema)
    const outcome = await this.#deps.values.check({ schema, value }, turnOf(this.#caller))
    this.#leftMs -= performance.now() - startMs
    if (outcome === 'bad schema') throw badRequest('The schema of the annotation spec cannot be used')
    if (outcome === 'invalid') throw badRequest('Feedback payload does not match annotation spec')
  }

  async #readSchema(ref: string): Promise<string> {
    const [text] = await resolveRefs(this.#deps, { caller: this.#caller, bounds }, [ref])
    const spec = parseUpTo(text!)
    const schema = spec && readFieldSchema(spec)
    if (!schema) throw badRequest(`annotation_ref must point to an ${className}`)
    return writeValue(schema)
  }
}

/** An empty one allows every value. Undefined for what is no specification. */
function readFieldSchema(spec: Value): Map<string, Value> | undefined {
  if (!(spec instanceof Map) || !isOfClass(spec)) return undefined
  const schema = spec.get('field_schema') ?? new Map<string, Value>()
  return schema instanceof Map ? schema : undefined
}

/** Programs store the class of an object in it; scripts may leave it out. */
function isOfClass(spec: Map<string, Value>): boolean {
  const name = spec.get('_class_name') ?? spec.get('_type')
  const bases = spec.get('_bases')
  if (Array.isArray(bases) && bases.includes(className)) return true
  return name === undefined ? spec.has('field_schema') : name === className
}
