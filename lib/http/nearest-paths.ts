import { countEdits } from '../edit-distance.ts'

/** The method and path of an operation. */
export interface KnownPath {
  method: string
  /** Parameters are in braces; `{path*}` may contain slashes. */
  path: string
}

const maxNamed = 3
// Half of the segments may differ.
const maxDifference = 0.5
// Clients can request any path. The paths of operations are shorter.
const maxSegments = 12
const maxSegmentLength = 40

/**
 * Finds the operations' paths that are most similar to a path, nearest first. Returns none if all are quite different.
 */
export function findNearestPaths(known: readonly KnownPath[], { method, path }: KnownPath): string[] {
  const wanted = splitPath(path)
  return known
    .filter((each) => each.method.toUpperCase() === method)
    .map((each) => ({
      path: each.path.replaceAll('*}', '}'),
      difference: measureDifference(wanted, splitPath(each.path)),
    }))
    .filter(({ difference }) => difference <= maxDifference)
    .sort((a, b) => a.difference - b.difference)
    .slice(0, maxNamed)
    .map((each) => each.path)
}

function splitPath(path: string): string[] {
  const segments = path.split('/', maxSegments + 1).slice(1)
  return segments.map((segment) => segment.slice(0, maxSegmentLength)).filter(Boolean)
}

/** From 0 for equal paths to 1 for paths without a common segment. */
function measureDifference(wanted: string[], known: string[]): number {
  const length = Math.max(wanted.length, known.length)
  const differences = Array.from({ length }, (_, index) => compareSegments(wanted[index], known[index]))
  return differences.reduce((sum, each) => sum + each, 0) / Math.max(1, length)
}

function compareSegments(wanted: string | undefined, known: string | undefined): number {
  if (wanted === undefined || known === undefined) return 1
  // A parameter can be any text, so an equal name is a better match.
  if (known.startsWith('{')) return 0.25
  return countEdits(wanted, known) / Math.max(wanted.length, known.length)
}
