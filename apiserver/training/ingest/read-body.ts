import { type HttpError, unprocessable, valueError, type ValidationIssue } from '../../../lib/http/http-error.ts'
import type { Static } from 'typebox'
import { searchLoneSurrogate } from '../../../lib/json/lone-surrogate.ts'
import { TooLarge, type JsonPiece, type JsonReader } from '../../../lib/json/reader.ts'
import { JsonError } from '../../../lib/json/parse.ts'
import { jsonInvalid, stringUnicode } from '../../../lib/http/body.ts'
import { maxIssues } from '../../../lib/http/validation/compile.ts'
import { bodyTooLarge } from './body-size.ts'
import { isCaptured } from '../../histories/read-histories.ts'
import type { trajectorySchema } from './group-schema.ts'
import { indexTrajectory, readScenario, type TrajectoryIndexRow } from './index-row.ts'
import { findIssues, knownGroupMembers, knownMembers, type BodyKind, type BodyMembers } from './shapes.ts'

type Trajectory = Static<typeof trajectorySchema>

// Each trajectory has an index row, and all rows go into one transaction. 32 groups of 16 are 512.
const maxTrajectories = 100_000
const maxGroups = 100_000

/** The content of a body, without its trajectories. */
export interface BodyContent<Kind extends BodyKind = BodyKind> {
  /** The members that are used, without the content of the groups. */
  members: BodyMembers[Kind]
  groups: number
  /** The number of failed rollouts in all groups. */
  exceptions: number
  /** Whether rows depend on the model's name, because a trajectory has captured exchanges. */
  needsModel: boolean
  /** In order. Their advantages are filled in later. */
  rows: TrajectoryIndexRow[]
}

/** The content of a list in the body. The last of repeated lists counts, as in JSON.parse. */
interface ListContent {
  rows: TrajectoryIndexRow[]
  issues: ValidationIssue[]
  exceptions: number
  length: number
}

/** How a body is read: what it is for, and the name of the model of captured exchanges. */
export interface BodyReading<Kind extends BodyKind = BodyKind> {
  kind: Kind
  model: string
}

/**
 * Reads a body trajectory by trajectory, checks its shape, and records the positions of its trajectories.
 *
 * @throws {HttpError} 422 with the issues, 413 for a trajectory or member that is too large to check
 */
export function readTrajectoryBody<Kind extends BodyKind>(
  reader: JsonReader,
  { kind, model }: BodyReading<Kind>,
): BodyContent<Kind> {
  const walk = new BodyWalk(reader, model)
  try {
    return walk.readBody(kind)
  } catch (error) {
    if (error instanceof JsonError) throw jsonInvalid(error, walk.trajectory)
    if (error instanceof TooLarge) throw bodyTooLarge(error)
    throw error
  }
}

class BodyWalk {
  readonly #reader: JsonReader
  readonly #model: string
  #trajectories = 0
  #needsModel = false
  /** The path of the trajectory that is being read. */
  trajectory: string[] | undefined
  #surrogate: string[] | undefined

  constructor(reader: JsonReader, model: string) {
    this.#reader = reader
    this.#model = model
  }

  readBody<Kind extends BodyKind>(kind: Kind): BodyContent<Kind> {
    const { members, list, issues } = this.#readOutline([], 'trajectory_groups', {
      known: knownMembers[kind],
      find: findIssues[kind],
      readList: () => this.#readGroups(),
    })
    this.#reader.readEnd()
    if (this.#surrogate) throw stringUnicode(this.#surrogate)
    const all = [...issues, ...list.issues].slice(0, maxIssues)
    if (all.length > 0) throw unprocessable(...all)
    const { length: groups, exceptions, rows } = list
    return { members: members as BodyMembers[Kind], groups, exceptions, needsModel: this.#needsModel, rows }
  }

  #readGroups(): ListContent {
    const list = emptyList()
    this.#reader.readArray((index) => {
      if (++list.length > maxGroups) throw tooMany('groups', maxGroups)
      const group = this.#readGroup(index)
      list.exceptions += group.exceptions
      for (const row of group.rows) list.rows.push(row)
      addIssues(list, group.issues)
    })
    return list
  }

  #readGroup(index: number): ListContent {
    const path = ['trajectory_groups', String(index)]
    const { members, list, issues } = this.#readOutline(path, 'trajectories', {
      known: knownGroupMembers,
      find: findIssues.group,
      readList: () => this.#readTrajectories(path),
    })
    addIssues(list, issues)
    if (list.issues.length > 0) return { ...list, rows: [] }
    const { exceptions, metadata } = members as { exceptions?: unknown[] | null; metadata?: object | null }
    const scenario = readScenario(metadata)
    list.exceptions = exceptions?.length ?? 0
    for (const row of list.rows) {
      row.group_index = index
      row.group_exceptions = list.exceptions
      row.scenario_id ??= scenario
    }
    return list
  }

  #readTrajectories(group: string[]): ListContent {
    const list = emptyList()
    this.#reader.readArray((index) => {
      if (++this.#trajectories > maxTrajectories) throw tooMany('trajectories', maxTrajectories)
      const path = [...group, 'trajectories', String(index)]
      this.trajectory = path
      const piece = this.#readPiece(path)
      this.trajectory = undefined
      if (list.issues.length < maxIssues) addIssues(list, findTrajectoryIssues(piece, path))
      if (list.issues.length > 0) return
      list.rows.push(describeTrajectory(piece, index, this.#model))
      this.#needsModel ||= isCaptured(piece.value as Trajectory)
    })
    return list
  }

  /**
   * Reads an object whose list `listName` is read separately; its other members are small. Any other value is an issue.
   */
  #readOutline(
    path: string[],
    listName: string,
    how: {
      known: Set<string>
      find: (value: unknown, sizeBytes: number, path?: string[]) => ValidationIssue[]
      readList: () => ListContent
    },
  ) {
    let list = emptyList()
    if (this.#reader.next() !== 'object') {
      const { value, size } = this.#readPiece(path)
      return { members: {}, list, issues: how.find(value, size, path) }
    }
    const members = new Map<string, unknown>()
    let sizeBytes = 0
    this.#reader.readObject((key) => {
      if (!key.isWellFormed()) this.#surrogate ??= path
      const isList = key === listName && this.#reader.next() === 'array'
      if (key === listName) list = isList ? how.readList() : emptyList()
      const piece = isList ? { value: [], size: 0 } : this.#readPiece([...path, key])
      if (how.known.has(key)) members.set(key, piece.value)
      if (how.known.has(key)) sizeBytes += piece.size
    })
    const outline = Object.fromEntries(members)
    return { members: outline, list, issues: how.find(outline, sizeBytes, path) }
  }

  #readPiece(path: string[]): JsonPiece {
    const piece = this.#reader.readPiece()
    if (piece.hasSurrogates && !this.#surrogate) {
      const inPiece = searchLoneSurrogate(piece.value)
      if (inPiece) this.#surrogate = [...path, ...inPiece]
    }
    return piece
  }
}

/** The schema cannot say that a trajectory is either written or captured. */
function findTrajectoryIssues({ value, size }: JsonPiece, path: string[]): ValidationIssue[] {
  const issues = findIssues.trajectory(value, size, path)
  if (issues.length > 0) return issues
  const { messages_and_choices: items, additional_histories: others, ...rest } = value as Trajectory
  if (!isCaptured(rest) || ((items ?? []).length === 0 && (others ?? []).length === 0)) return []
  const reason = 'a trajectory has either exchanges, or messages_and_choices with additional_histories'
  return [valueError(['body', ...path, 'exchanges'], reason)]
}

function describeTrajectory({ value, start, size }: JsonPiece, index: number, model: string): TrajectoryIndexRow {
  return {
    group_index: 0,
    trajectory_index: index,
    group_exceptions: 0,
    advantage: null,
    payload_offset: start,
    payload_length: size,
    ...indexTrajectory(value as Trajectory, model),
  }
}

function emptyList(): ListContent {
  return { rows: [], issues: [], exceptions: 0, length: 0 }
}

function addIssues(list: ListContent, issues: ValidationIssue[]): void {
  if (list.issues.length < maxIssues) list.issues.push(...issues)
}

function tooMany(what: string, most: number): HttpError {
  const reason = `more than ${most} ${what} in one body`
  return unprocessable(valueError(['body', 'trajectory_groups'], reason))
}
