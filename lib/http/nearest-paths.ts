import { countEdits } from '../edit-distance.ts'

/** An operation by what its requests begin with. */
export interface KnownPath {
  method: string
  /** With parameters in braces, `{path*}` for one that takes slashes. */
  path: string
}

const maxNamed = 3
// Half of the segments may be others.
const maxDifference = 0.5
// A client may ask for any path; those of operations are shorter.
const maxSegments = 12
const maxSegmentLength = 40

/** The paths of operations that are the most like a path, the nearest first; none when all are quite different. */
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

/** From 0 for equal paths to 1 for paths without a segment in common. */
function measureDifference(wanted: string[], known: string[]): number {
  const length = Math.max(wanted.length, known.length)
  const differences = Array.from({ length }, (_, index) => compareSegments(wanted[index], known[index]))
  return differences.reduce((sum, each) => sum + each, 0) / Math.max(1, length)
}

function compareSegments(wanted: string | undefined, known: string | undefined): number {
  if (wanted === undefined || known === undefined) return 1
  // Any text may be a parameter; an equal name says more.
  if (known.startsWith('{')) return 0.25
  return countEdits(wanted, known) / Math.max(wanted.length, known.length)
}
