import {
  parse,
  type DirectiveNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type FieldNode,
  type ValueNode,
} from 'graphql/language'
import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import type { Arguments } from './values.ts'

/** A GraphQL request. */
export interface GraphqlRequest {
  query: string
  variables?: Readonly<Record<string, unknown>> | null | undefined
  operationName?: string | null | undefined
}

/** A selected field, with its arguments. */
export interface PlannedField {
  /** Its name in the answer. */
  key: string
  name: string
  args: Arguments
  /** The types of the fragments that it is in. */
  types: readonly string[]
  /** Undefined: it has no selection. */
  fields: PlannedField[] | undefined
}

export interface Plan {
  kind: 'query' | 'mutation'
  fields: PlannedField[]
}

// The longest query of the SDKs has 3,000 characters, 40 fields in fragments, and a depth of 10. Without these limits,
// a short text could cost a lot: fragments double the fields with each line, and an alias repeats a field that costs a
// query.
const maxQueryLength = 64 * 1024
const maxTokens = 8_000
const maxFields = 2_000
const maxDepth = 24
const maxRootFields = 20
const maxFragments = 200

/**
 * Parses a request, and plans what it selects: variables, default values, fragments, `@include` and `@skip` are
 * resolved. Nothing is compared with a schema, so that newer clients may select fields that are unknown here.
 *
 * @throws {HttpError} 400
 */
export function planRequest({ query, variables, operationName }: GraphqlRequest): Plan {
  if (query.length > maxQueryLength) throw invalidQuery(`The query is longer than ${maxQueryLength} characters`)
  const { definitions } = parseQuery(query)
  // wandb 0.31 sends an empty name in its public API.
  const operation = chooseOperation(definitions, operationName || undefined)
  if (operation.operation === 'subscription') throw invalidQuery('Subscriptions are not supported')
  const fragments = definitions.filter((each) => each.kind === 'FragmentDefinition')
  if (fragments.length > maxFragments) throw invalidQuery(`The query has more than ${maxFragments} fragments`)
  const planner = new Planner(fragments, readVariables(operation, variables ?? {}))
  const fields = planner.plan(operation.selectionSet)
  if (fields.length > maxRootFields) throw invalidQuery(`The query has more than ${maxRootFields} fields at its root`)
  return { kind: operation.operation, fields }
}

function parseQuery(query: string): DocumentNode {
  try {
    return parse(query, { noLocation: true, maxTokens })
  } catch (error) {
    // The parser calls itself for each level of the query.
    if (error instanceof RangeError) throw tooDeep()
    throw invalidQuery(error instanceof Error ? error.message : 'The query cannot be parsed')
  }
}

function chooseOperation(definitions: DocumentNode['definitions'], name: string | undefined): OperationDefinitionNode {
  const operations = definitions.filter((each) => each.kind === 'OperationDefinition')
  const found = name === undefined ? operations : operations.filter((each) => each.name?.value === name)
  const [operation, ...others] = found
  if (!operation) throw invalidQuery(name === undefined ? 'The query has no operation' : 'operationName is unknown')
  if (others.length > 0) throw invalidQuery('The query has several operations. Name one with operationName')
  return operation
}

function readVariables(operation: OperationDefinitionNode, given: Arguments): Arguments {
  const defaults = (operation.variableDefinitions ?? [])
    .filter(({ defaultValue }) => defaultValue !== undefined)
    .map(({ variable, defaultValue }) => [variable.name.value, readValue(defaultValue!, {}, 0)] as const)
  return { ...Object.fromEntries(defaults), ...given }
}

/** Plans the selections of one request, and counts them. */
class Planner {
  readonly #fragments: Map<string, FragmentDefinitionNode>
  readonly #variables: Arguments
  /** The fragments around the current selection. */
  readonly #open = new Set<string>()
  #count = 0

  constructor(fragments: FragmentDefinitionNode[], variables: Arguments) {
    this.#fragments = new Map(fragments.map((fragment) => [fragment.name.value, fragment]))
    this.#variables = variables
  }

  plan(selection: SelectionSetNode, depth = 0): PlannedField[] {
    const fields: PlannedField[] = []
    this.#collect(fields, selection, { depth, types: [] })
    return fields
  }

  #collect(fields: PlannedField[], { selections }: SelectionSetNode, level: { depth: number; types: string[] }): void {
    if (level.depth > maxDepth) throw tooDeep()
    for (const selection of selections) {
      // Spreads count too: fragments without fields of their own may still double.
      this.#count += 1
      if (this.#count > maxFields) throw invalidQuery(`The query selects more than ${maxFields} fields`)
      if (!this.#isIncluded(selection.directives)) continue
      if (selection.kind === 'Field') fields.push(this.#planField(selection, level))
      else if (selection.kind === 'InlineFragment') {
        const types = [...level.types, ...listTypes(selection.typeCondition?.name.value)]
        this.#collect(fields, selection.selectionSet, { depth: level.depth + 1, types })
      } else this.#spread(fields, selection.name.value, level)
    }
  }

  #spread(fields: PlannedField[], name: string, { depth, types }: { depth: number; types: string[] }): void {
    const fragment = this.#fragments.get(name)
    if (!fragment) throw invalidQuery(`The fragment ${name} does not exist`)
    if (this.#open.has(name)) throw invalidQuery(`The fragment ${name} contains itself`)
    this.#open.add(name)
    const level = { depth: depth + 1, types: [...types, fragment.typeCondition.name.value] }
    this.#collect(fields, fragment.selectionSet, level)
    this.#open.delete(name)
  }

  #planField(node: FieldNode, { depth, types }: { depth: number; types: string[] }): PlannedField {
    return {
      key: (node.alias ?? node.name).value,
      name: node.name.value,
      args: readArguments(node.arguments, this.#variables),
      types,
      fields: node.selectionSet && this.plan(node.selectionSet, depth + 1),
    }
  }

  #isIncluded(directives: readonly DirectiveNode[] = []): boolean {
    return directives.every(({ name: { value: name }, arguments: given }) => {
      if (name !== 'include' && name !== 'skip') return true
      const condition = readArguments(given, this.#variables)['if'] ?? false
      if (typeof condition !== 'boolean') throw invalidQuery(`@${name} needs a boolean`)
      return condition === (name === 'include')
    })
  }
}

function listTypes(type: string | undefined): string[] {
  return type === undefined ? [] : [type]
}

function readArguments(nodes: FieldNode['arguments'] = [], variables: Arguments): Arguments {
  const entries = nodes.map(({ name, value }) => [name.value, readValue(value, variables, 0)] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/** The value of a literal, with its variables. */
function readValue(node: ValueNode, variables: Arguments, depth: number): unknown {
  if (depth > maxDepth) throw tooDeep()
  switch (node.kind) {
    case 'Variable':
      return Object.hasOwn(variables, node.name.value) ? variables[node.name.value] : undefined
    case 'NullValue':
      return null
    case 'IntValue':
    case 'FloatValue':
      return Number(node.value)
    case 'ListValue':
      return node.values.map((value) => readValue(value, variables, depth + 1))
    case 'ObjectValue':
      return Object.fromEntries(
        node.fields.map(({ name, value }) => [name.value, readValue(value, variables, depth + 1)]),
      )
    default:
      return node.value
  }
}

function tooDeep(): HttpError {
  return invalidQuery(`The query is nested more than ${maxDepth} levels deep`)
}

function invalidQuery(reason: string): HttpError {
  return new HttpError(errors.bad_request, `${reason.replace(/\.$/, '')}.`)
}
