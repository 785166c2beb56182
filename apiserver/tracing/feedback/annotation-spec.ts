import { badRequest } from '../errors.ts'
import type { Caller } from '../../accounts/context.ts'
import type { ProjectDeps } from '../projects.ts'
import type { ValueChecker } from './value-checker.ts'
import { parseUpTo, writeValue, type Value } from '../../../lib/json/value.ts'
import { resolveRefs } from '../refs/resolve-refs.ts'

export interface FeedbackDeps extends ProjectDeps {
  values: ValueChecker
}

// Limits of a specification. Its schema must be far smaller, so it is not counted in the request's memory.
const bounds = { maxBytes: 1024 * 1024, reserve: () => {} }

const className = 'AnnotationSpec'

// A request with typical schemas takes some milliseconds. A hostile schema may take a second for each value.
const defaultBudgetMs = 10_000

/** Checks the annotations of one request. Each specification is read once, and all checks share a time budget. */
export class AnnotationChecks {
  readonly #deps: FeedbackDeps
  readonly #caller: Caller
  /** The schemas as texts, by reference. */
  readonly #schemas = new Map<string, string>()
  #leftMs: number

  constructor(deps: FeedbackDeps, caller: Caller, budgetMs = defaultBudgetMs) {
    this.#deps = deps
    this.#caller = caller
    this.#leftMs = budgetMs
  }

  /**
   * Checks a value against the annotation specification that a reference names.
   *
   * @throws {HttpError} 400 for an invalid specification, an invalid value, or a spent time budget; 404 for a missing
   * specification
   */
  async check({ ref, value }: { ref: string; value: string }): Promise<void> {
    if (this.#leftMs <= 0)
      throw badRequest(
        'Checking the annotations of this request takes too long. Send fewer annotations, or simplify the schema.',
      )
    const startMs = performance.now()
    const schema = this.#schemas.get(ref) ?? (await this.#readSchema(ref))
    this.#schemas.set(ref, schema)
    const outcome = await this.#deps.values.check({ schema, value })
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

/** An empty schema allows every value. Undefined for an invalid specification. */
function readFieldSchema(spec: Value): Map<string, Value> | undefined {
  if (!(spec instanceof Map) || !isOfClass(spec)) return undefined
  const schema = spec.get('field_schema') ?? new Map<string, Value>()
  return schema instanceof Map ? schema : undefined
}

/** The SDK stores the class of an object in it. A script may leave it out. */
function isOfClass(spec: Map<string, Value>): boolean {
  const name = spec.get('_class_name') ?? spec.get('_type')
  const bases = spec.get('_bases')
  if (Array.isArray(bases) && bases.includes(className)) return true
  return name === undefined ? spec.has('field_schema') : name === className
}
