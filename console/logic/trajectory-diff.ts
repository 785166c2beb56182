import { readTurns, type Token, type Turn } from './chat.ts'
import { alignTurns, diffWords, splitWords, type Change } from './diff.ts'

// A difference is computed in a worker, and cut to what a page can lay out in a few milliseconds.

/** How much of a difference is shown. */
const limits = {
  turns: 500,
  /** The changes of one turn. */
  changes: 1_000,
  /** The characters of a text that was added or removed. */
  characters: 20_000,
  /** The characters around a change that are the same. */
  around: 300,
  /** The tokens of an answer with their log-probabilities. Of longer ones, the colours of the text say enough. */
  tokens: 200,
}

/** A part of a turn: a change, or how many characters are left out there. */
export type ShownChange = Change | { kind: 'cut'; characters: number }

export interface ShownTokens {
  count: number
  first: Token[]
}

/** What a turn says differently. */
export interface TurnDifference {
  role: string
  isSame: boolean
  changes: ShownChange[]
  /** Both answers' tokens, if they differ and both are known. */
  tokens?: { before: ShownTokens; after: ShownTokens }
}

export interface Difference {
  turns: TurnDifference[]
  /** How many turns follow that are not shown. */
  omitted: number
}

/** What the conversation `b` says differently from `a`, turn by turn. */
export function diffConversations(a: unknown, b: unknown): Difference {
  const pairs = alignTurns(readTurns(a), readTurns(b))
  const turns = pairs.slice(0, limits.turns).map((pair) => diffTurns(pair.a, pair.b))
  return { turns, omitted: pairs.length - turns.length }
}

function diffTurns(a: Turn | undefined, b: Turn | undefined): TurnDifference {
  const asTokens = (a === undefined || a.tokens !== undefined) && (b === undefined || b.tokens !== undefined)
  const changes = diffWords(listParts(a, asTokens), listParts(b, asTokens))
  const isSame = changes.every(({ kind }) => kind === 'same')
  return {
    role: (b ?? a)!.role,
    isSame,
    changes: cutChanges(changes),
    ...(!isSame && asTokens && { tokens: { before: showTokens(a), after: showTokens(b) } }),
  }
}

/** The parts that are compared: the sampled tokens, if both turns have them, else words. */
function listParts(turn: Turn | undefined, asTokens: boolean): string[] {
  if (!turn) return []
  if (asTokens && turn.tokens) return turn.tokens.map(({ text }) => text)
  const calls = turn.toolCalls.map(({ name, arguments: given }) => `${name} ${given}`)
  return splitWords([turn.text, ...calls].join('\n'))
}

function showTokens(turn: Turn | undefined): ShownTokens {
  const tokens = turn?.tokens ?? []
  return { count: tokens.length, first: tokens.slice(0, limits.tokens) }
}

/** Leaves out what is the same far from changes, and the rest of long changes. */
export function cutChanges(changes: readonly Change[]): ShownChange[] {
  const shown = changes.slice(0, limits.changes).flatMap((change, index): ShownChange[] => {
    if (change.kind !== 'same') return cutMiddle(change, limits.characters, 0)
    const isLast = index === changes.length - 1
    return cutMiddle(change, index === 0 && !isLast ? 0 : limits.around, isLast ? 0 : limits.around)
  })
  const rest = changes.slice(limits.changes).reduce((sum, { text }) => sum + text.length, 0)
  return rest === 0 ? shown : [...shown, { kind: 'cut', characters: rest }]
}

/** Keeps so many characters of both ends of a text. */
function cutMiddle({ kind, text }: Change, head: number, tail: number): ShownChange[] {
  const characters = text.length - head - tail
  // A few characters are shorter than the words that say that they are left out.
  if (characters <= limits.around) return [{ kind, text }]
  const parts: ShownChange[] = [
    { kind, text: text.slice(0, head) },
    { kind: 'cut', characters },
    { kind, text: tail === 0 ? '' : text.slice(-tail) },
  ]
  return parts.filter((part) => part.kind === 'cut' || part.text !== '')
}
